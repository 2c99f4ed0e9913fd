"""Requests as clients in the field send them, a little beside the document."""

import json
from io import BytesIO

import pytest
from PIL import Image as Pixels
from tests.mock.service.test_oracle import ADA_AVATAR, ADA_HASH, PORTRAIT

ME = {"token": "ada-full"}


@pytest.mark.parametrize(("value", "is_selected"), [("1", True), ("0", False), ("true", True)])
def test_select_avatar_takes_numbers_as_well(ask, value, is_selected):
    path = f"/v3/me/avatars?select_avatar={value}"
    avatar = ask("POST", path, files={"data": ("a.png", PORTRAIT)}, **ME).json()
    assert avatar["selected"] is is_selected


def test_json_under_the_content_type_of_a_form_assigns_an_avatar(ask):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    body = json.dumps({"email_hash": ADA_HASH}, indent=1)
    path = f"/v3/me/avatars/{ADA_AVATAR}/email"
    for content in (body, f"\r\n {body}"):
        assert ask("POST", path, content=content, headers=form, **ME).status_code == 204
    refused = ask("POST", path, content=f"email_hash={ADA_HASH}", headers=form, **ME)
    assert refused.status_code == 415


def test_a_webp_upload_is_shown_where_the_switch_takes_it(ask):
    content = BytesIO()
    Pixels.new("RGB", (40, 40), "teal").save(content, "WEBP")
    files = {"data": ("a.webp", content.getvalue())}
    choice = {"X-Mock-Choose": "upload-image-types=webp-heic-too"}
    assert ask("POST", "/v3/me/avatars", files=files, **ME).status_code == 400
    avatar = ask("POST", "/v3/me/avatars", files=files, headers=choice, **ME).json()
    picture = ask("GET", avatar["image_url"])
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/jpeg")


@pytest.mark.parametrize(
    "forwarded", ["host=app.example;proto=https", 'for=192.0.2.1;proto=https;host="app.example"']
)
def test_links_follow_the_forwarded_header_of_a_proxy(ask, forwarded):
    profile = ask("GET", "/v3/profiles/ada", headers={"Forwarded": forwarded}).json()
    assert profile["avatar_url"] == f"https://app.example/avatar/{ADA_HASH}"


@pytest.mark.parametrize(
    ("authorization", "reason"),
    [
        (None, "send Authorization: Bearer TOKEN"),
        ("ada-full", "the word Bearer is missing before the token"),
        ("Bearer ada-ful", "there is no such token. The tokens"),  # and none is suggested
        ("Bearer ada-expired", "the token expired at 2"),
    ],
)
def test_a_401_says_why_and_where_the_tokens_are_listed(ask, authorization, reason):
    headers = {"Authorization": authorization} if authorization else {}
    refusal = ask("GET", "/v3/me/profile", headers=headers)
    assert (refusal.status_code, set(refusal.json()) - {"code"}) == (401, {"error"})
    assert reason in refusal.json()["error"]
    assert "`understudy fixtures --list`" in refusal.json()["error"]


def test_the_definition_is_published_under_both_names_and_lists_itself_once(ask):
    published = ask("GET", "/v3/openapi")
    assert ask("GET", "/v3/openapi.json").json() == published.json()
    assert ask("GET", "/openapi.json").json() == published.json()
    assert "/openapi.json" not in published.json()["paths"]
    flows = published.json()["components"]["securitySchemes"]["oauth2"]["flows"]
    assert flows["password"]["tokenUrl"].endswith("/oauth2/token")
    assert ask("POST", "/v3/openapi.json").status_code == 405
