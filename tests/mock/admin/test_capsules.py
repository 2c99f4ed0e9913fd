"""Capsules: a world before one of its requests as a file, which another mock opens and replays."""

import base64
import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from tests.mock.admin.conftest import AUTHORIZATION, Driver, Time
from tests.mock.renewal import renew
from tests.mock.service.test_image_processing import picture

from understudy.limits import ARCHIVE_BYTES
from understudy.mock.fixtures import loading
from understudy.mock.server.clock import Clock
from understudy.mock.server.request_context import RequestContext

ZIP = {"content-type": "application/zip"}
FOREIGN = "sk-live-0123456789abcdef"


@pytest.fixture
def lived_in(driver: Driver, time: Time) -> Driver:
    """A mock with requests of every kind of credential, a second apart."""
    application = driver.admin("POST", "/applications", {"owner": "ada", "name": "Mine"})
    issued = driver.admin("POST", "/tokens", {"person": "ben", "expires_in": 3600})["token"]
    secret = f"{application['client_id']}:{application['client_secret']}"
    basic = f"Basic {base64.b64encode(secret.encode()).decode()}"
    form = {
        "grant_type": "password",
        "username": "ada",
        "password": "ada-password",
        "client_id": application["client_id"],
        "client_secret": application["client_secret"],
    }
    token_url = f"{AUTHORIZATION}/oauth2/token"
    sends: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/v3/profiles/ada", {}),
        ("PATCH", "/v3/me/profile", {"json": {"location": "Two"}, "token": "ada-full"}),
        ("GET", "/v3/me/profile", {"token": issued}),
        ("GET", "/v3/me/profile", {"token": FOREIGN}),
        ("POST", "/v3/me/avatars", {"files": {"data": ("a.png", picture())}, "token": "ada-full"}),
        ("POST", token_url, {"data": form}),
        ("POST", token_url, {"data": form, "headers": {"Authorization": basic}}),
    ]
    for method, url, options in sends:
        time.advance(timedelta(seconds=1))
        answer = driver.ask(method, url, **options)
    driver.get("/v3/me/avatars", token=answer.json()["access_token"])
    return driver


def saved(driver: Driver, request: int | None = None) -> bytes:
    """Returns the capsule of the default world."""
    answer = driver.get("/__admin/capsule" + (f"?request={request}" if request else ""))
    assert answer.status_code == 200, answer.text
    return answer.content


def opened(driver: Driver, time: Time, capsule: bytes) -> dict[str, Any]:
    """Opens a capsule in a mock to which nothing has happened."""
    renew(driver.mock, Clock(lambda: time.now))
    answer = driver.ask("POST", "/__admin/capsule", content=capsule, headers=ZIP)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def text_of(capsule: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(capsule)) as archive:
        return archive.read("capsule.json").decode()


def replayed(driver: Driver, context: RequestContext) -> tuple[int, list[Any], bytes]:
    """Sends a journalled request again at its moment; returns status, header fields and body."""
    moment = context.started.isoformat()
    driver.admin("PUT", "/clock", {"now": moment, "frozen": True})
    query = context.query.decode()
    url = context.site_url + context.path + (f"?{query}" if query else "")
    fields = {name.decode(): text.decode() for name, text in context.sent_headers}
    driver.ask(context.method, url, headers=fields, content=context.body)
    *_, again = driver.mock.world.journal
    return again.status, list(again.response_headers), again.response_body


@pytest.mark.parametrize("first", [1, 2, 4])
def test_replaying_a_capsule_gives_the_same_bytes(lived_in, time, first) -> None:
    capsule = saved(lived_in, first)
    assert opened(lived_in, time, capsule)["request"] == first
    recorded = [it for it in lived_in.mock.world.journal if it.number >= first]
    assert [it.status for it in recorded] == [200, 200, 200, 401, 200, 200, 200, 200][first - 1 :]
    for context in recorded:
        expected = (context.status, list(context.response_headers), context.response_body)
        assert replayed(lived_in, context) == expected


def test_a_capsule_contains_no_secret(lived_in: Driver) -> None:
    secrets = [token for token in lived_in.mock.world.baseline["tokens"] if len(token) >= 6]
    secrets += [it.client_secret for it in lived_in.mock.world.baseline["applications"].values()]
    secrets += [c.key for c in lived_in.mock.world.changes() if c.collection == "tokens"]
    text = text_of(saved(lived_in))
    assert [secret for secret in (*secrets, FOREIGN, "ada-password") if secret in text] == []


def test_a_capsule_keeps_no_cookie_of_a_page_at_another_port(driver: Driver) -> None:
    cookies = "other_app=hunter2; mock_world=default"
    driver.get("/v3/profiles/ada", headers={"Cookie": cookies})
    text = text_of(saved(driver))
    assert "hunter2" not in text
    assert "other_app=invented; mock_world=default" in text


def test_the_same_world_gives_the_same_capsule(lived_in: Driver) -> None:
    lived_in.admin("PUT", "/clock", {"frozen": True})
    assert saved(lived_in) == saved(lived_in)


def test_an_opened_capsule_has_state_journal_and_time_of_its_moment(lived_in, time) -> None:
    capsule = saved(lived_in, 3)
    rows = lived_in.admin("GET", "/requests")["requests"]
    time.advance(timedelta(days=9))
    about = opened(lived_in, time, capsule)
    assert about == {
        "world": "default",
        "request": 3,
        "requests": 8,
        "now": "2026-06-01T09:00:03.000Z",
    }
    assert lived_in.admin("GET", "/requests")["requests"] == rows
    assert lived_in.get("/v3/profiles/ada").json()["location"] == "Two"
    assert lived_in.admin("GET", "/clock")["frozen"]
    assert lived_in.admin("GET", "/changes")["reaches"] == 9


def test_a_capsule_of_a_world_is_opened_in_a_world_of_that_name(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "mine"})
    driver.admin("POST", "/tokens", {"person": "ada"}, world="mine")
    capsule = driver.get("/__world/mine/__admin/capsule").content
    refused = driver.ask("POST", "/__admin/capsule", content=capsule, headers=ZIP)
    assert (refused.status_code, "'mine'" in refused.json()["detail"]) == (409, True)
    answer = driver.ask("POST", "/__world/mine/__admin/capsule", content=capsule, headers=ZIP)
    assert answer.status_code == 200


def changed(capsule: bytes, **members: Any) -> bytes:
    """Returns a capsule with other members."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        text = json.dumps({**json.loads(text_of(capsule)), **members})
        archive.writestr("capsule.json", text)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("members", "status", "reason"),
    [
        ({"baseline": "0" * 64}, 409, "another fixtures (digest 000000000000"),
        ({"document": "0" * 64}, 409, "start the mock with the same --document"),
        ({"format": "other"}, 400, "Invalid enum value 'other'"),
        ({"changes": {"nothing": {"a": 1}}}, 400, "no collection 'nothing'"),
        ({"changes": {"people": {"ada": {"slug": 7}}}}, 400, "slug"),
        ({"changes": {"tokens": {"{{understudy token 999}}": None}}}, 400, "no token 999"),
        ({"changes": {"tokens": {"{{understudy issued x}}": None}}}, 400, "cannot be opened"),
        ({"now": "2026-01-01T00:00:00"}, 400, "timezone"),
    ],
)
def test_a_capsule_that_does_not_fit_is_refused(driver, members, status, reason) -> None:
    capsule = changed(saved(driver), **members)
    before = driver.mock.world.snapshot()
    refused = driver.ask("POST", "/__admin/capsule", content=capsule, headers=ZIP)
    assert (refused.status_code, reason in refused.json()["detail"]) == (status, True), refused.text
    assert driver.mock.world.snapshot() == before


@pytest.mark.parametrize("content", [b"PK", b"{}", b""])
def test_what_is_no_capsule_is_refused(driver: Driver, content: bytes) -> None:
    assert driver.ask("POST", "/__admin/capsule", content=content, headers=ZIP).status_code == 400


def test_a_zip_file_without_a_capsule_is_refused(driver: Driver) -> None:
    export = driver.get("/__admin/export").content
    refused = driver.ask("POST", "/__admin/capsule", content=export, headers=ZIP)
    assert (refused.status_code, "capsule.json" in refused.json()["detail"]) == (400, True)


def test_a_capsule_that_is_no_bzip2_although_it_says_so_is_refused(driver: Driver) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("capsule.json", "{}")
    content = bytearray(made.getvalue())
    local, central = content.index(b"PK\3\4") + 8, content.index(b"PK\1\2") + 10
    content[local] = content[central] = zipfile.ZIP_BZIP2
    refused = driver.ask("POST", "/__admin/capsule", content=bytes(content), headers=ZIP)
    assert (refused.status_code, "by deflate" in refused.json()["detail"]) == (400, True)


def test_a_capsule_beyond_the_limit_is_refused(driver: Driver, monkeypatch) -> None:
    capsule = saved(driver)
    monkeypatch.setattr(loading, "ARCHIVE_BYTES", ARCHIVE_BYTES._replace(most=10))
    refused = driver.ask("POST", "/__admin/capsule", content=capsule, headers=ZIP)
    assert refused.status_code == 413


def test_a_request_that_is_forgotten_has_no_capsule(driver: Driver) -> None:
    status, reason = driver.refused("GET", "/capsule?request=9")
    assert (status, "does not remember" in reason) == (404, True)


PNG = base64.b64encode(picture()).decode()
TOKEN = {"token": "t-0123", "person": "ada"}
APPLICATION = {"client_id": "x", "client_secret": "secret", "name": "X", "owner": "ada"}
SESSION = {"key": "k-0123", "csrf": "c", "person": "nobody"}
FAILED = {"since": "2026-01-01T00:00:00", "count": 1}


@pytest.mark.parametrize(
    ("collection", "key", "record", "place"),
    [
        ("images", "../../PWN", {"content": PNG, "media_type": "image/png"}, "'../../PWN'"),
        ("images", "/etc/PWN", {"content": PNG, "media_type": "image/png"}, "'/etc/PWN'"),
        ("images", "page", {"content": PNG, "media_type": "text/html"}, "it is not text/html"),
        ("images", "page", {"content": PNG, "media_type": "image/gif"}, "it is not image/gif"),
        ("tokens", "t-0123", {**TOKEN, "expires": "\x1b[2J"}, "tokens: expires"),
        ("tokens", "t-0123", {**TOKEN, "person": "nobody"}, "tokens: person"),
        ("tokens", "t-0123", {**TOKEN, "scopes": ["all"]}, "tokens: scopes"),
        ("tokens", "other", TOKEN, "under its own key"),
        ("applications", "x", {**APPLICATION, "redirect_uris": ["javascript:a"]}, "redirect_uris"),
        ("applications", "x", {**APPLICATION, "owner": "nobody"}, "owner"),
        ("applications", "x", {**APPLICATION, "name": "\u202e"}, "name"),
        ("applications", "../x", {**APPLICATION, "client_id": "../x"}, "client_id"),
        ("sessions", "k-0123", SESSION, "sessions: person"),
        ("slugs_by_hash", "0" * 64, "ada", "does not lead to 'ada'"),
        ("people", "ben", None, "'ben' is of the fixtures"),
        ("failed_codes", "x", FAILED, "changes: failed_codes: x"),
        ("vocabulary", "", {}, "vocabulary"),
    ],
)
def test_a_record_that_no_fixture_could_have_is_refused_by_its_place(
    driver: Driver, collection: str, key: str, record: Any, place: str
) -> None:
    capsule = changed(saved(driver), changes={collection: {key: record}})
    refused = driver.ask("POST", "/__admin/capsule", content=capsule, headers=ZIP)
    assert (refused.status_code, place in refused.json()["detail"]) == (400, True), refused.text
    assert driver.get("/__admin/export").status_code == 200


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"choices": {"avatar-delete-status": "666"}}, "avatar-delete-status"),
        ({"limits": {"ada": -1}}, "limits"),
        ({"windows": {"ada": ["2026-01-01T00:00:00", 1]}}, "windows"),
        ({"windows": {"ada": ["9999-12-31T23:59:59-14:00", 1]}}, "windows"),
        ({"faults": {"a": {"id": "a", "effect": "none"}}}, "effect"),
        ({"faults": {"a": {"id": "a", "status": 999}}}, "faults"),
        ({"faults": {"a": {"id": "b", "status": 500}}}, "faults"),
        ({"seed": 10**30}, "seed"),
    ],
)
def test_a_setting_that_the_admin_api_refuses_is_refused_in_a_capsule(
    driver: Driver, settings: dict[str, Any], place: str
) -> None:
    capsule = saved(driver)
    whole = {**json.loads(text_of(capsule))["settings"], **settings}
    refused = driver.ask(
        "POST", "/__admin/capsule", content=changed(capsule, settings=whole), headers=ZIP
    )
    assert (refused.status_code, place in refused.json()["detail"]) == (400, True), refused.text


def test_an_operation_in_a_capsule_may_be_named_by_method_and_path(lived_in, time) -> None:
    capsule = json.loads(text_of(saved(lived_in)))
    journal = [{**it, "operation": f"{it['method']} {it['path'][3:]}"} for it in capsule["journal"]]
    journal[0]["operation"] = "GET /profiles/{who}"
    fault = {"id": "a", "operation": "GET /profiles/{who}", "status": 503}
    settings = {**capsule["settings"], "faults": {"a": fault}}
    opened(lived_in, time, changed(saved(lived_in), journal=journal, settings=settings))
    assert lived_in.get("/v3/profiles/ada").status_code == 503
    found = lived_in.admin("GET", "/requests?operation=getProfile")["requests"]
    assert [it["id"] for it in found] == [9, 1]


def test_a_request_that_takes_a_second_is_replayed_to_the_byte(driver: Driver, time: Time) -> None:
    def later():
        time.advance(timedelta(seconds=1))
        return time.now

    driver.mock.world.clock = Clock(later)
    changed = {"token": "ada-full", "json": {"location": "Elsewhere"}}
    answer = driver.ask("PATCH", "/v3/me/profile", **changed)
    opened(driver, time, saved(driver, request=1))
    assert driver.ask("PATCH", "/v3/me/profile", **changed).json() == answer.json()


def test_a_text_that_looks_like_a_reference_stays_so(driver: Driver, time: Time) -> None:
    name = "{{understudy token 1}} and {{understudy braces}}"
    driver.admin("POST", "/applications", {"owner": "ada", "name": name})
    opened(driver, time, saved(driver))
    assert name in [it["name"] for it in driver.admin("GET", "/applications")]
