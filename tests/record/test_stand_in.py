"""A mock responds to some operations, or where the deployment does not, for the deployment's people."""

from collections.abc import Iterator

import httpx
import pytest
from tests.record.canaries import Flock
from tests.record.proxied import ADA, PROXY, MockedDeployment, Session, proxied

from understudy.api.stand_in import StandInOptions
from understudy.errors import StartupError

AVATARS = ("uploadAvatar", "listAvatars", "deleteAvatar")


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A proxy that lets the mock respond to the operations on avatars and QR codes."""
    options = StandInOptions((*AVATARS, "getQrCode"))
    with proxied(stand_in=options) as session:
        yield session


def ended(session: Session) -> list[str]:
    """Returns the paths that the deployment got."""
    return [f"{each.method} {each.url.path}" for each in session.deployment.requests]


def upload(session: Session, picture: bytes, headers: dict[str, str] = ADA) -> httpx.Response:
    files = {"data": ("me.png", picture)}
    return session.request("POST", f"{PROXY}/v3/me/avatars", headers=headers, files=files)


def test_an_avatar_uploaded_to_the_mock_is_listed_beside_those_of_the_deployment(session):
    before = session.deployment.mock
    created = upload(session, Flock().picture())
    assert created.headers["x-mock-responder"] == "mock"
    listed = session.request("GET", f"{PROXY}/v3/me/avatars", headers=ADA).json()
    assert len(listed) == 3
    assert created.json()["image_id"] in {each["image_id"] for each in listed}
    assert "POST /v3/me/avatars" not in ended(session)
    assert before is session.deployment.mock
    picture = session.request("GET", created.json()["image_url"])
    assert picture.headers["content-type"] == "image/png"
    assert f"GET /avatar/{created.json()['image_id']}" not in ended(session)


def avatars(session: Session, headers: dict[str, str] = ADA) -> dict[str, bool]:
    """Returns the avatars of an account by their identifiers, and whether each is selected."""
    listed = session.request("GET", f"{PROXY}/v3/me/avatars", headers=headers).json()
    return {each["image_id"]: each["selected"] for each in listed}


@pytest.fixture
def uploading() -> Iterator[tuple[Session, str, list[str]]]:
    """A proxy that lets the mock respond to uploads alone, and an account that uploaded an avatar.

    Yields the proxy, the identifier of the upload, and those of the deployment's avatars.
    """
    with proxied(stand_in=StandInOptions(("uploadAvatar",))) as session:
        before = list(avatars(session))
        query = {"select_avatar": "true"}
        files = {"data": ("me.png", Flock().picture())}
        created = session.request(
            "POST", f"{PROXY}/v3/me/avatars", headers=ADA, files=files, params=query
        )
        yield session, created.json()["image_id"], before


def test_the_mock_responds_for_what_was_uploaded_to_it_until_it_is_deleted(uploading):
    session, created, before = uploading
    assert avatars(session) == {**dict.fromkeys(before, False), created: True}
    url = f"{PROXY}/v3/me/avatars/{created}"
    changed = session.request("PATCH", url, headers=ADA, json={"alt_text": "A hat"})
    assert changed.json()["alt_text"] == "A hat"
    assert session.request("DELETE", url, headers=ADA).status_code == 204
    passed = session.request("GET", f"{PROXY}/v3/me/avatars", headers=ADA)
    assert "x-mock-responder" not in passed.headers


def test_another_token_of_the_account_shows_the_upload_too(uploading):
    session, created, _ = uploading
    assert created in avatars(session, {"Authorization": "Bearer ada-read-only"})
    assert created not in avatars(session, {"Authorization": "Bearer ben-full"})


def test_changes_of_the_deployment_s_avatars_pass_and_are_seen_beside_the_upload(uploading):
    session, created, (first, second) = uploading
    url = f"{PROXY}/v3/me/avatars"
    own = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA).json()["hash"]
    session.request("POST", f"{url}/{first}/email", headers=ADA, json={"email_hash": own})
    assert avatars(session) == {first: True, second: False, created: False}
    session.request("DELETE", f"{url}/{first}", headers=ADA)
    assert avatars(session) == {second: False, created: False}
    assert f"DELETE /v3/me/avatars/{first}" in ended(session)


def test_other_operations_pass(session):
    own = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
    assert "x-mock-responder" not in own.headers
    assert ended(session)[-1] == "GET /v3/me/profile"


def test_the_mock_knows_people_by_the_deployment_s_hashes(session):
    hashed = session.request("GET", f"{PROXY}/v3/profiles/nora").json()["hash"]
    code = session.request("GET", f"{PROXY}/v3/qr-code/{hashed}")
    assert code.headers["x-mock-responder"] == "mock"
    assert code.headers["content-type"] == "image/png"
    address = {
        "selected_email_hash": session.request("GET", f"{PROXY}/v3/profiles/ada").json()["hash"]
    }
    listed = session.request("GET", f"{PROXY}/v3/me/avatars", params=address, headers=ADA)
    assert listed.status_code == 200


def test_a_token_that_the_deployment_refuses_the_mock_refuses_too(session):
    refused = upload(session, Flock().picture(), {"Authorization": "Bearer wrong"})
    assert (refused.status_code, refused.headers["x-mock-responder"]) == (401, "mock")


def test_what_the_mock_responds_is_neither_judged_nor_recorded():
    with proxied(stand_in=StandInOptions(("listAvatars",)), key=b"k" * 32) as session:
        session.request("GET", f"{PROXY}/v3/me/avatars", headers=ADA)
    assert session.recording.judge.counts.judged == 0
    assert session.recording.stand_in is not None
    assert session.recording.stand_in.counts == {"mock": 1, "fallback": 0}


class Outage:
    """Lets a deployment respond until it fails.

    Attributes:
        failure: What happens from then on: an error, or a status; None as long as it responds.
    """

    def __init__(self) -> None:
        self.failure: httpx.HTTPError | int | None = None

    def __call__(self, _request: httpx.Request, response: httpx.Response) -> httpx.Response:
        if isinstance(self.failure, httpx.HTTPError):
            raise self.failure
        return response if self.failure is None else httpx.Response(self.failure)


@pytest.mark.parametrize("failure", [httpx.ConnectError("canary"), 502, 503, 504])
def test_the_mock_responds_with_what_passed_before_where_the_deployment_does_not(failure):
    outage = Outage()
    lines: list[str] = []
    options = StandInOptions(is_fallback=True, announce=lines.append)
    with proxied(MockedDeployment(outage), stand_in=options) as session:
        own = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA).json()
        outage.failure = failure
        again = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
        stranger = session.request("GET", f"{PROXY}/v3/profiles/nora")
    assert again.headers["x-mock-responder"] == "fallback"
    assert {name: again.json()[name] for name in ("hash", "display_name", "links")} == {
        name: own[name] for name in ("hash", "display_name", "links")
    }
    assert stranger.status_code == 404
    assert [line.partition(":")[0] for line in lines] == ["GET /me/profile", "GET /profiles/{}"]
    assert "canary" not in "".join(lines)
    assert session.findings == []


def test_without_fallback_an_outage_passes():
    outage = Outage()
    outage.failure = 503
    with proxied(MockedDeployment(outage), stand_in=StandInOptions(("getQrCode",))) as session:
        assert session.request("GET", f"{PROXY}/v3/profiles/ada").status_code == 503


def test_a_change_that_passes_is_seen_by_the_mock():
    outage = Outage()
    options = StandInOptions(is_fallback=True)
    with proxied(MockedDeployment(outage), stand_in=options) as session:
        changes = {"location": "Elsewhere"}
        session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
        session.request("PATCH", f"{PROXY}/v3/me/profile", headers=ADA, json=changes)
        outage.failure = 503
        again = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA).json()
    assert again["location"] == "Elsewhere"


def test_an_operation_that_there_is_not_is_said_with_the_nearest():
    with (
        pytest.raises(StartupError, match="did you mean 'getQrCode'"),
        proxied(stand_in=StandInOptions(("getQrcode",))),
    ):
        pass
