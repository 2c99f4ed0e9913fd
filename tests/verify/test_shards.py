"""Shards: together they do the work of one run, and none uses the accounts of another."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from tests.verify.conftest import PATIENT

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.api.judging import of_shard
from understudy.cli import main
from understudy.deployments.deployment import Deployment
from understudy.deployments.sharding import target_file_of
from understudy.deployments.target import Permit
from understudy.errors import StartupError
from understudy.openapi.loader import load
from understudy.openapi.resources.finder import infer_resources
from understudy.openapi.resources.model import ResourceModel
from understudy.verify.catalogue import catalogue
from understudy.verify.rules import profile_edits
from understudy.verify.shapes import bundled
from understudy.verify.shard_works import division_of
from understudy.verify.shards import LAST, Division, Shard, Work, divide, shard_of

REGISTERED = profile_edits
PETSTORE = Path(__file__).parents[1] / "mock" / "petstore.yaml"


def division(shard: Shard, **changes: Any) -> Division:
    target = msgspec.structs.replace(TARGET, is_mock=False, **changes)
    document = bundled("service.yaml")
    return division_of(shard, target, document, ResourceModel(), catalogue(), ("generated cases",))


@pytest.mark.parametrize("text", ["1/1", "2/4", "100/100", "last/3"])
def test_a_shard_is_written_as_it_is_read(text):
    assert str(shard_of(text)) == text


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "1/0", "1/101", "-1/2", "first/2", "٣/٤"])
def test_what_names_no_shard_is_refused(text):
    with pytest.raises(StartupError, match="is not a shard"):
        shard_of(text)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_every_piece_of_work_is_done_by_one_shard(count):
    shards = [Shard(part, count) for part in (*Shard("1", count).numbered, LAST)]
    divisions = [division(shard) for shard in shards]
    for name in divisions[0].parts:
        assert sum(each.has(name) for each in divisions) == 1
    assert {str(each.parts) for each in divisions} == {str(divisions[0].parts)}


def test_no_account_is_used_by_two_shards():
    accounts = list(division(Shard("1", 4)).accounts.values())
    assert any(accounts)
    for place, names in enumerate(accounts):
        assert not names & frozenset().union(*accounts[place + 1 :])


def test_work_on_the_same_account_by_way_of_others_stays_together():
    works = [
        Work("a", 1, frozenset({"own"})),
        Work("b", 1, frozenset({"other"})),
        Work("c", 1, frozenset({"own", "other"})),
        Work("d", 9),
    ]
    parts = divide(works, Shard("1", 2)).parts
    assert parts == {"d": "1", "a": "2", "b": "2", "c": "2"}


def test_what_disturbs_the_others_comes_last_at_a_shared_deployment():
    permit = Permit(uploads=True, tokens=True, exhaust_rate_limit=True, clock=True)
    shared = division(Shard("1", 2), permit=permit)
    last = {name for name, part in shared.parts.items() if part == LAST}
    assert last == {
        *("probe codes_that_grow_old", "probe tokens_that_grow_old", "probe wrong_secrets"),
        *("probe hour_without_token", "probe hour_with_token"),
    }
    own_mock = division(Shard("1", 2, is_shared=False), permit=permit)
    assert own_mock.needed == ("1", "2")
    assert own_mock.parts.keys() == shared.parts.keys()


def test_where_nothing_disturbs_the_others_there_is_no_last_shard():
    assert division(Shard("1", 2), permit=Permit()).needed == ("1", "2")


def test_requests_that_one_limit_counts_stay_together_where_each_is_counted():
    target = msgspec.structs.replace(TARGET, permit=Permit())
    document = bundled("service.yaml")
    parts = division_of(Shard("1", 3), target, document, ResourceModel(), catalogue(), ()).parts
    names = ("lookups_by_every_name", "code_of_unknown_identifier", "lookups_of_known_people")
    assert {parts[f"probe {name}"] for name in names} == {"1"}


def test_collections_of_another_service_are_divided_and_their_cases_follow_them():
    document = load(PETSTORE)
    model = infer_resources(document)
    target = msgspec.structs.replace(TARGET, is_mock=False)
    phases = ("generated cases",)
    parts = division_of(Shard("1", 2), target, document, model, catalogue(), phases).parts
    for resource in model.collections:
        own = parts[f"inferred state of {resource.path}"]
        cases = [
            part
            for name, part in parts.items()
            if name.startswith("cases of") and name.endswith(f" {resource.path}")
        ]
        assert set(cases) == {own}
    assert set(parts.values()) == {"1", "2"}


def test_shards_share_what_the_target_permits_in_all(tmp_path, mock):
    permit = Permit(tokens=True, max_tokens=7)
    target = msgspec.structs.replace(TARGET, permit=permit)
    wire = in_process.InProcess(mock)
    journal, ledger = tmp_path / "staging.journal", tmp_path / "staging.ledger"
    time = in_process.time_of(mock)
    whole = Deployment(target, wire, time, PATIENT, journal=journal, ledger=ledger)
    shares = [of_shard(whole, Shard(str(number), 3)) for number in (1, 2, 3)]
    wire.close()
    assert sum(each.target.permit.max_tokens or 0 for each in shares) == 7
    assert sum(each.target.budget.anonymous for each in shares) == 100
    assert [each.journal for each in shares if each.journal] == [
        tmp_path / f"staging.{number}-of-3.journal" for number in (1, 2, 3)
    ]
    assert len({each.ledger for each in shares}) == 3
    assert {target_file_of(each.journal) for each in shares if each.journal} == {
        tmp_path / "staging.toml"
    }


def test_only_the_last_shard_moves_a_shared_clock(mock):
    wire = in_process.InProcess(mock)
    whole = Deployment(TARGET, wire, in_process.time_of(mock), PATIENT)
    first, last = of_shard(whole, Shard("1", 2)), of_shard(whole, Shard(LAST, 2))
    wire.close()
    assert (first.time.advance, first.allowance.pause) == (None, timedelta(0))
    assert last.time.advance is not None


def test_a_store_s_ledger_is_kept_by_all_shards_with_the_whole_budget(mock):
    wire = in_process.InProcess(mock)
    time = in_process.time_of(mock)
    whole = Deployment(TARGET, wire, time, PATIENT, shared_ledger="valkey://127.0.0.1/0")
    shard = of_shard(whole, Shard("1", 2))
    wire.close()
    assert shard.target.budget == TARGET.budget
    assert shard.shared_ledger == whole.shared_ledger


def test_a_plan_says_which_shard_uses_which_accounts(tmp_path):
    target = tmp_path / "target.toml"
    target.write_text(
        'base_url = "http://127.0.0.1:9/v3"\n[permit]\nexhaust_rate_limit = true\n'
        '[known]\nslug = "ada"\n[credentials]\naccess_token = "t"\n'
    )
    result = CliRunner().invoke(
        main, ["verify", "--target", str(target), "--shard", "2/2", "--plan"]
    )
    assert result.exit_code == 0
    assert "shard 1: " in result.output
    assert "accounts: other, own" in result.output
    assert "accounts: none  (this one)" in result.output
    assert "shard last uses up a limit or moves the clock" in result.output
    assert "one_profile_seen_by_everyone" not in result.output


@pytest.mark.parametrize("shard", ["3/2", "last"])
def test_a_shard_that_there_is_not_is_a_usage_error(shard):
    result = CliRunner().invoke(main, ["verify", "--shard", shard])
    assert result.exit_code == 2
    assert "is not a shard" in result.output


def test_recorded_traffic_is_not_divided(tmp_path):
    result = CliRunner().invoke(main, ["verify", "--shard", "1/2", "--har", str(tmp_path / "h")])
    assert (result.exit_code, "leave one out" in result.output) == (2, True)


def test_a_division_of_no_shard_leaves_nothing_out():
    whole = division_of(None, TARGET, bundled("service.yaml"), ResourceModel(), catalogue(), ())
    assert (whole.has("anything"), whole.needed) == (True, ())


def test_a_shard_of_its_own_mock_is_used_as_it_is(mock):
    wire = in_process.InProcess(mock)
    deployment = Deployment(TARGET, wire, in_process.time_of(mock), PATIENT)
    wire.close()
    shard = replace(shard_of("1/2"), is_shared=False)
    assert of_shard(deployment, shard) is deployment
