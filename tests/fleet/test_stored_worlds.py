"""``understudy worlds``: the worlds of a store from outside, and their end."""

import json
import re

import pytest
from click.testing import CliRunner, Result
from tests.cli.test_json_output import validate
from tests.house.documentation import ROOT
from tests.mock.admin.conftest import Driver
from tests.store_server import StoreServer

from understudy.cli import main

GUIDE = (ROOT / "docs" / "how-to" / "fleet.md").read_text()
Replicas = tuple[Driver, Driver]


def worlds(server: StoreServer, *words: str) -> Result:
    return CliRunner().invoke(main, ["worlds", "--store", server.url(), *words])


def listed(server: StoreServer, *words: str) -> dict[str, dict[str, float]]:
    result = worlds(server, "--json", *words)
    assert result.exit_code == 0, result.output
    return {row["name"]: row for row in validate("worlds", result.stdout)[0]}


def test_each_world_has_its_size_and_its_time(replicas: Replicas, server: StoreServer) -> None:
    one, other = replicas
    one.admin("POST", "/worlds", {"name": "build-7", "idle_seconds": 3600})
    before = listed(server)["build-7"]
    edit = {"location": "Kept"}
    other.ask("PATCH", "/__world/build-7/v3/me/profile", json=edit, token="ada-full")
    after = listed(server)["build-7"]
    assert (before["requests"], after["requests"]) == (0, 1)
    assert (before["records"], after["records"] > 0) == (0, True)
    assert before["bytes"] < after["bytes"]
    assert 0 < after["ends_in_seconds"] <= 3600
    assert listed(server)["default"]["ends_in_seconds"] is None


def test_a_world_that_was_ended_is_gone_for_every_replica(
    replicas: Replicas, server: StoreServer
) -> None:
    one, other = replicas
    one.admin("POST", "/worlds", {"name": "build-7"})
    assert other.get("/__world/build-7/v3/profiles/ada").is_success
    assert list(listed(server, "--end", "build-7")) == ["default"]
    for replica in replicas:
        assert replica.get("/__world/build-7/v3/profiles/ada").status_code == 404
        assert [world["name"] for world in replica.admin("GET", "/worlds")] == ["default"]
    assert [key for key in server.send("KEYS", "*") if b"build-7" in key] == []


def test_the_table_has_a_line_for_each_world(replicas: Replicas, server: StoreServer) -> None:
    replicas[0].admin("POST", "/worlds", {"name": "build-7", "idle_seconds": 3600})
    head, *lines = worlds(server).output.splitlines()
    assert head.split() == ["WORLD", "BYTES", "RECORDS", "REQUESTS", "IDLE", "ENDS", "IN"]
    assert [line.split()[0] for line in lines] == ["default", "build-7"]
    assert lines[0].endswith("never")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("default", "reset it by its admin API"), ("build-8", "did you mean 'build-7'")],
)
def test_a_world_that_cannot_be_ended_is_said(
    replicas: Replicas, server: StoreServer, name: str, reason: str
) -> None:
    replicas[0].admin("POST", "/worlds", {"name": "build-7"})
    result = worlds(server, "--end", name)
    assert result.exit_code == 2
    assert reason in result.output


def test_a_store_of_another_version_is_left_alone(replicas: Replicas, server: StoreServer) -> None:
    replicas[0].get("/v3/profiles/ada")
    server.send("HSET", "understudy:fleet", "schema", 99)
    result = worlds(server)
    assert result.exit_code == 2
    assert "a newer version of understudy" in result.output


def test_the_rights_that_the_guide_names_are_enough(
    replicas: Replicas, server: StoreServer
) -> None:
    replicas[0].admin("POST", "/worlds", {"name": "build-7"})
    (rule,) = re.findall(r"^ACL SETUSER understudy (.*)$", GUIDE, re.MULTILINE)
    (more,) = re.findall(r"rights too:\s`(.*?)`", GUIDE)
    server.send("ACL", "SETUSER", "understudy", "reset", *rule.split(), *more.split())
    url = server.url(login="understudy:a-password@")
    result = CliRunner().invoke(main, ["worlds", "--store", url, "--end", "build-7"])
    server.send("ACL", "DELUSER", "understudy")
    assert result.exit_code == 0, result.output


def test_an_empty_store_has_no_worlds(server: StoreServer) -> None:
    server.send("FLUSHALL")
    assert json.loads(worlds(server, "--json").stdout) == []


def test_a_store_that_is_not_there_is_said_in_one_line() -> None:
    result = CliRunner().invoke(main, ["worlds", "--store", "valkey://127.0.0.1:9/0"])
    assert result.exit_code == 2
    assert "--store: The store at valkey://127.0.0.1:9/0 does not respond" in result.output


def test_a_url_that_is_none_is_refused_under_the_option_that_has_it() -> None:
    result = CliRunner().invoke(main, ["worlds", "--store", "valkey://127.0.0.1:6379/first"])
    assert result.exit_code == 2
    assert "--store: the URL of a store is written as valkey://host:6379/0" in result.output
