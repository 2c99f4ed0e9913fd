"""The reference follows every switch of ``rules.yaml``, by its options' names."""

import httpx
import pytest
from tests.proofs.reference.in_process import ADDRESSES, InProcess
from tests.proofs.reference.people import BEACON, ISOLDE, TAMSIN
from tests.proofs.reference.records import md5_hash
from tests.proofs.reference.service import Options

PNG = InProcess().handle_request(
    httpx.Request("GET", f"{ADDRESSES.base_url}/qr-code/{ISOLDE.slug}")
)
STRANGE = "0" * 64
AVATAR = f"/me/avatars/{'a1' * 16}"


def sent(
    choices: dict[str, str], method: str, path: str, token: str = "", **more
) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(transport=InProcess(Options(choices=choices))) as client:
        return client.request(method, f"{ADDRESSES.base_url}{path}", headers=headers, **more)


PRIVATE = ("GET", f"/profiles/{TAMSIN.slug}")
UNKNOWN_QR = ("GET", f"/qr-code/{STRANGE}")
STRANGE_LIST = ("GET", f"/me/avatars?selected_email_hash={STRANGE}", "isolde-full")
DELETION = ("DELETE", AVATAR, "isolde-full")
BAD_TOKEN = ("GET", f"/profiles/{ISOLDE.slug}", "wrong")
BY_MD5 = ("GET", f"/profiles/{md5_hash(ISOLDE.emails[1])}")
OUT_OF_SCOPE = ("DELETE", AVATAR, "isolde-read-only")


@pytest.mark.parametrize(
    ("switch", "option", "request_", "status"),
    [
        ("email-hashes", "sha256", BY_MD5, 404),
        ("email-hashes", "md5-too", BY_MD5, 200),
        ("private-profile-lookup", "403", PRIVATE, 403),
        ("private-profile-lookup", "404", PRIVATE, 404),
        ("qr-unknown-hash", "picture", UNKNOWN_QR, 200),
        ("qr-unknown-hash", "404", UNKNOWN_QR, 404),
        ("unknown-selected-email-hash", "refuse", STRANGE_LIST, 400),
        ("unknown-selected-email-hash", "ignore", STRANGE_LIST, 200),
        ("avatar-delete-status", "204", DELETION, 204),
        ("avatar-delete-status", "200", DELETION, 200),
        ("invalid-optional-token", "refuse", BAD_TOKEN, 401),
        ("invalid-optional-token", "anonymous", BAD_TOKEN, 200),
        ("scopes", "enforced", OUT_OF_SCOPE, 403),
        ("scopes", "ignored", OUT_OF_SCOPE, 204),
    ],
)
def test_an_option_decides_the_status(switch, option, request_, status):
    assert sent({switch: option}, *request_).status_code == status


@pytest.mark.parametrize("status", [200, 201])
def test_an_upload_has_the_chosen_status(status):
    files = {"data": ("new.png", PNG.content)}
    choices = {"avatar-upload-status": str(status)}
    uploaded = sent(choices, "POST", "/me/avatars", "isolde-full", files=files)
    assert uploaded.status_code == status


@pytest.mark.parametrize("status", [200, 204])
def test_setting_an_avatar_has_the_chosen_status(status):
    body = {"email_hash": ISOLDE.hashes[1]}
    choices = {"avatar-email-status": str(status)}
    assigned = sent(choices, "POST", f"{AVATAR}/email", "isolde-full", json=body)
    assert (assigned.status_code, assigned.content) == (status, b"")


@pytest.mark.parametrize(("option", "status"), [("refuse", 400), ("ignore", 200)])
def test_members_that_cannot_be_edited_are_refused_or_ignored(option, status):
    body = {"location": "Ashore", "first_name": "I"}
    choices = {"unknown-profile-members": option}
    edited = sent(choices, "PATCH", "/me/profile", "isolde-full", json=body)
    assert edited.status_code == status
    assert edited.json().get("first_name", "Isolde") == "Isolde"


def test_a_strange_address_that_is_ignored_means_the_primary_one():
    listed = sent({"unknown-selected-email-hash": "ignore"}, *STRANGE_LIST).json()
    assert [avatar["selected"] for avatar in listed] == [True, False]


@pytest.mark.parametrize(("option", "status"), [("refuse", 401), ("accept", 400)])
def test_http_basic_is_refused_or_accepted(option, status):
    basic = (BEACON.client_id, BEACON.client_secret)
    wire = InProcess(Options(choices={"token-endpoint-basic-auth": option}))
    with httpx.Client(transport=wire) as client:
        form = {"grant_type": "authorization_code"}
        token = client.post(f"{ADDRESSES.auth_url}/oauth2/token", data=form, auth=basic)
    assert token.status_code == status


@pytest.mark.parametrize(
    ("option", "last"), [("on", (429, "0")), ("warn", (200, "0")), ("off", (200, None))]
)
def test_limits_refuse_warn_or_are_off(option, last):
    wire = InProcess(Options(choices={"rate-limits": option}, anonymous_limit=1))
    request = httpx.Request("GET", f"{ADDRESSES.base_url}/profiles/{ISOLDE.slug}")
    _, second = wire.handle_request(request), wire.handle_request(request)
    assert (second.status_code, second.headers.get("X-RateLimit-Remaining")) == last
