"""A world is taken out as fixtures and put in again."""

import gc
import io
import zipfile
from pathlib import Path

import pytest
from tests.mock.admin.conftest import Driver

from understudy.errors import BadRequest
from understudy.mock.fixtures import loading as seeding
from understudy.mock.fixtures.loading import pack_world, unpack_fixtures
from understudy.mock.store.tokens import TOKENS, Token

ZIP = {"content-type": "application/zip"}


def png(driver: Driver) -> bytes:
    return driver.get("/v3/qr-code/ada").content


@pytest.fixture
def lived_in(driver: Driver) -> Driver:
    """A mock in which somebody has edited, uploaded and registered."""
    driver.ask("PATCH", "/v3/me/profile", json={"location": "Häfen & Co"}, token="ada-full")
    upload = {"image": ("a.png", png(driver))}
    assert driver.ask("POST", "/v3/me/avatars", files=upload, token="ada-full").is_success
    driver.admin("POST", "/applications", {"owner": "ada", "name": "Mine"})
    return driver


def test_an_export_is_a_fixtures_directory(lived_in: Driver, tmp_path: Path) -> None:
    answer = lived_in.get("/__admin/export")
    assert answer.headers["content-type"] == "application/zip"
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path)
    baseline = seeding.load(tmp_path)
    assert baseline["people"]["ada"].profile.location == "Häfen & Co"
    assert (tmp_path / "people" / "ada.yaml").read_text().count("Häfen & Co") == 1
    assert any(application.name == "Mine" for application in baseline["applications"].values())


def test_an_export_is_the_same_for_the_same_world(lived_in: Driver) -> None:
    assert lived_in.get("/__admin/export").content == lived_in.get("/__admin/export").content


def test_what_was_exported_can_be_put_into_another_world(lived_in: Driver) -> None:
    packed = lived_in.get("/__admin/export").content
    before = lived_in.get("/v3/me/avatars", token="ada-full").json()
    world = lived_in.admin("POST", "/worlds", {"name": "other"})
    admin = f"{world['admin_url']}/import"
    assert lived_in.ask("POST", admin, content=packed, headers=ZIP).status_code == 204
    after = lived_in.get(f"{world['base_url']}/me/avatars", token="ada-full").json()
    assert [a["image_id"] for a in after] == [a["image_id"] for a in before]
    assert (
        lived_in.get(after[-1]["image_url"]).content
        == lived_in.get(before[-1]["image_url"]).content
    )


def locked(archive: bytes) -> bytes:
    """Returns an archive of one entry, which is marked as having a password."""
    local, central = archive.index(b"PK\3\4") + 6, archive.index(b"PK\1\2") + 8
    changed = bytearray(archive)
    changed[local] = changed[central] = 1
    return bytes(changed)


def packed(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/"), text)
    return made.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no zip", "not a zip file"),
        (packed(tokens="[]"), "contains no people"),
        (packed(**{"people__x.yaml": "slug: x\nabot: y\nemails: []"}), "did you mean 'about'"),
        (packed(**{"..__..__etc__passwd": "x"}), "leads out of the fixtures directory"),
        (packed(**{"images__C:\\a.png": "x"}), "leads out of the fixtures directory"),
        (locked(packed(**{"people__x.yaml": "slug: x"})), "has a password"),
        (
            packed(people__x="1", people__y="2").replace(b"people/y", b"people/x"),
            "2 entries 'people/x'. Keep one",
        ),
    ],
)
def test_what_is_no_fixtures_directory_is_refused_and_changes_nothing(
    driver: Driver, content, reason
) -> None:
    answer = driver.ask("POST", "/__admin/import", content=content, headers=ZIP)
    assert answer.status_code == 400
    assert reason in answer.json()["detail"]
    assert "/tmp" not in answer.json()["detail"]
    assert driver.get("/v3/profiles/ada").status_code == 200


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"people__x.yaml": "[1, 2"}, "is not readable as YAML"),
        ({"people__x.yaml": "[" * 50_000}, "yaml-depth"),
        ({f"people__{number}.yaml": "" for number in range(5_001)}, "archive-entries"),
    ],
    ids=["broken YAML", "50,000 levels", "empty entries"],
)
def test_a_hostile_archive_is_refused_without_a_path_of_this_machine(
    driver: Driver, files, reason
) -> None:
    answer = driver.ask("POST", "/__admin/import", content=packed(**files), headers=ZIP)
    assert answer.status_code in {400, 413}
    assert reason in answer.json()["detail"]
    assert "/tmp" not in answer.json()["detail"]


def test_an_archive_of_terabytes_is_refused_before_it_is_unpacked(driver: Driver) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(2):
            archive.writestr(f"people/{number}.yaml", b"\0" * (65 * 1024 * 1024))
    answer = driver.ask("POST", "/__admin/import", content=made.getvalue(), headers=ZIP)
    assert (answer.status_code, answer.headers["x-mock-limit"]) == (413, "archive-bytes")


def test_garbage_collection_stops_nobody_while_an_archive_is_read(
    driver: Driver, monkeypatch
) -> None:
    seen: list[bool] = []

    def refuse(*_arguments: object) -> None:
        seen.append(gc.isenabled())
        msg = "not this one"
        raise BadRequest(msg)

    monkeypatch.setattr("understudy.mock.admin.capsules.unpack_fixtures", refuse)
    assert driver.ask("POST", "/__admin/import", content=b"PK", headers=ZIP).status_code == 400
    assert (seen, gc.isenabled()) == ([False], True)


def test_a_token_that_ends_between_two_seconds_is_exported_as_it_can_be_imported(
    driver: Driver,
) -> None:
    world = driver.mock.world
    world.put(TOKENS, "t", Token("t", "ada", expires="2026-12-06T07:05:13.290496+00:00"))
    token = unpack_fixtures(pack_world(world))["tokens"]["t"]
    assert token.expires == "2026-12-06T07:05:13Z"


def test_a_long_list_of_tokens_is_one_list(driver: Driver) -> None:
    world = driver.mock.world
    for number in range(1200):
        world.put(TOKENS, f"t{number}", Token(f"t{number}", "ada"))
    baseline = unpack_fixtures(pack_world(world))
    assert dict(baseline["tokens"]) == dict(world.items(TOKENS))
