"""Which of two errors is refused, and which of several values counts, are those of the switches."""

from io import BytesIO

import pytest
from PIL import Image

UNKNOWN = "/v3/me/avatars/no-such-avatar"
BOTH_WRONG = {"method": "PATCH", "json": {"rating": "M"}}


def status(ask, path: str, switch: str, option: str, token: str | None = None, **more) -> int:
    headers = {"X-Mock-Choose": f"{switch}={option}"}
    answer = ask(more.pop("method", "GET"), path, token, headers=headers, **more)
    assert isinstance(answer.status_code, int)
    return answer.status_code


@pytest.mark.parametrize(("option", "expected"), [("body", 400), ("avatar", 404)])
def test_an_update_is_refused_for_its_body_or_for_the_avatar(ask, option, expected):
    switch = "avatar-body-precedence"
    assert status(ask, UNKNOWN, switch, option, "ada-full", **BOTH_WRONG) == expected


def test_a_wrong_body_for_an_avatar_that_exists_is_refused_for_the_body(ask):
    own = ask("GET", "/v3/me/avatars", "ada-full").json()[0]["image_id"]
    path, switch = f"/v3/me/avatars/{own}", "avatar-body-precedence"
    assert status(ask, path, switch, "avatar", "ada-full", **BOTH_WRONG) == 400


@pytest.mark.parametrize(("option", "expected"), [("token", 401), ("profile", 404)])
def test_a_lookup_is_refused_for_its_token_or_for_the_identifier(ask, option, expected):
    switch = "invalid-token-precedence"
    assert status(ask, "/v3/profiles/nobody-at-all", switch, option, "no-such-token") == expected
    assert status(ask, "/v3/profiles/ada", switch, option, "no-such-token") == 401
    assert status(ask, "/v3/me/profile", switch, option, "no-such-token") == 401


@pytest.mark.parametrize(("option", "expected"), [("scope", 403), ("body", 400)])
def test_an_update_is_refused_for_its_scope_or_for_its_body(ask, option, expected):
    path, switch = "/v3/me/profile", "scope-body-precedence"
    for body, refusal in (({"job_title": 7}, expected), ({"job_title": "nowhere"}, 403)):
        update = {"method": "PATCH", "json": body}
        assert status(ask, path, switch, option, "ada-read-only", **update) == refusal
    assert ask("GET", path, "ada-full").json()["job_title"] != "nowhere"


@pytest.mark.parametrize(("option", "width"), [("first", 96), ("last", 120)])
def test_of_two_sizes_the_chosen_one_is_drawn(ask, option, width):
    path = "/v3/qr-code/ada?size=96&size=120"
    assert status(ask, path, "repeated-query-parameter", "refuse") == 400
    headers = {"X-Mock-Choose": f"repeated-query-parameter={option}"}
    code = ask("GET", path, headers=headers)
    assert Image.open(BytesIO(code.content)).size == (width, width)


def test_an_empty_parameter_counts_as_left_out_where_its_type_has_no_empty_value(ask):
    switch, path = "empty-query-parameter", "/v3/qr-code/ada?size=&type="
    assert status(ask, path, switch, "refuse") == 400
    assert status(ask, path, switch, "ignore") == 200
    assert status(ask, "/v3/me/associated-email?email_hash=", switch, "ignore", "ada-full") == 200


@pytest.mark.parametrize("path", ["/v3/me/profile", "/v3/me/avatars", "/v3/me/associated-email"])
@pytest.mark.parametrize(("option", "expected"), [("read", 403), ("any", 403), ("auth", 200)])
def test_what_is_read_opens_by_the_scopes_that_were_chosen(ask, path, option, expected):
    switch = {"profile": "own-profile-scope", "avatars": "avatar-list-scope"}
    name = switch.get(path.rpartition("/")[2], "associated-email-scope")
    query = {"params": {"email_hash": "0" * 64}} if name == "associated-email-scope" else {}
    assert status(ask, path, name, option, "ada-auth-only", **query) == expected
    assert status(ask, path, name, option, "ada-no-auth", **query) == 403
