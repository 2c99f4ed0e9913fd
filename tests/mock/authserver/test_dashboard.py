"""The developer dashboard over HTTP, and what each of its buttons ends."""

import re
from datetime import timedelta
from html import unescape

import pytest
from tests.mock.authserver.conftest import CALLBACK, EXCHANGE, PASSWORD, RESOURCE, hidden

from understudy.mock.store.applications import APPLICATIONS

HERE = "/apps/server-app"


@pytest.fixture
def ada(browser):
    browser.sign_in()
    return browser


def press(browser, path, page=HERE, **fields):
    """Sends one of a page's forms and shows the page that follows."""
    form = {"csrf": hidden(browser.get(page))["csrf"], **fields}
    return browser.post(path, data=form, follow_redirects=True)


def shown(page):
    """Returns the secrets that a page shows the only time."""
    pairs = re.findall(
        r"<strong>([\w ]+)</strong>: copy it now.*?<code>([^<]*)</code>", page.text, re.S
    )
    return {name: unescape(text) for name, text in pairs}


def registered(browser, name="My App", uris=CALLBACK):
    page = press(browser, "/apps", "/apps", name=name, redirect_uris=uris)
    client_id = str(page.url).rpartition("/")[2]
    return client_id, shown(page)


@pytest.mark.parametrize("path", ["/apps", HERE])
def test_nobody_sees_it_before_signing_in(browser, path):
    answer = browser.get(path)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{browser.base_url}/sign-in")


def test_a_new_application_works_in_every_flow(ada):
    client_id, secrets = registered(ada)
    own = {"client_id": client_id, "client_secret": secrets["Client secret"]}
    code = ada.code(client_id=client_id)
    assert ada.post("/oauth2/token", data={**EXCHANGE, **own, "code": code}).status_code == 200
    assert ada.post("/oauth2/token", data={**PASSWORD, **own}).status_code == 200
    headers = {"Authorization": f"Bearer {secrets['API key']}"}
    lookup = ada.get(f"{RESOURCE}/v3/profiles/ada", headers=headers)
    assert lookup.headers["x-ratelimit-limit"] == "1000"


def test_its_secrets_are_shown_once(ada):
    client_id, secrets = registered(ada)
    assert secrets.keys() == {"Client secret", "API key"}
    again = ada.get(f"/apps/{client_id}")
    assert shown(again) == {}
    assert not [secret for secret in secrets.values() if secret in again.text]


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": "x" * 81},
        {"redirect_uris": "javascript:alert(1)"},
        {"redirect_uris": "data:text/html,x"},
        {"redirect_uris": "/relative"},
        {"redirect_uris": "http://127.0.0.1/#fragment"},
        {"redirect_uris": "http://user@127.0.0.1/"},
        {"redirect_uris": "http://a;script-src/"},
        {"redirect_uris": "http://a,b/"},
    ],
)
def test_what_cannot_be_registered_is_refused(ada, mock, fields):
    before = len(list(mock.world.items(APPLICATIONS)))
    page = press(ada, "/apps", "/apps", **{"name": "x", "redirect_uris": CALLBACK, **fields})
    assert (page.status_code, 'role="alert"' in page.text) == (400, True)
    assert len(list(mock.world.items(APPLICATIONS))) == before


def test_another_persons_application_is_not_there(ada):
    assert "Choir Calendar" not in ada.get("/apps").text
    assert ada.get("/apps/two-redirects").status_code == 404
    for path in ("name", "redirect-uris", "secret", "api-key", "grants", "deletion"):
        assert press(ada, f"/apps/two-redirects/{path}", name="x").status_code == 404


@pytest.mark.parametrize(
    "path", ["name", "redirect-uris", "secret", "api-key", "grants", "deletion"]
)
def test_a_forged_form_changes_nothing(ada, mock, path):
    before = mock.world.get(APPLICATIONS, "server-app")
    fields = {"csrf": "0" * 32, "name": "x", "add": "http://evil.example.com/"}
    assert ada.post(f"{HERE}/{path}", data=fields).status_code == 400
    assert ada.get(f"{HERE}/{path}").status_code == 405
    assert mock.world.get(APPLICATIONS, "server-app") == before


def test_a_name_is_changed_and_shown_at_consent(ada):
    press(ada, f"{HERE}/name", name="Path Journal")
    assert "Path Journal" in ada.authorize().text
    assert press(ada, f"{HERE}/name", name=" ").status_code == 400


def test_addresses_are_added_and_removed_and_count_at_once(ada):
    press(ada, f"{HERE}/redirect-uris", add="http://127.0.0.1:5000/new")
    assert ada.authorize(redirect_uri="http://127.0.0.1:5000/new").status_code == 200
    press(ada, f"{HERE}/redirect-uris", remove="http://127.0.0.1:5000/new")
    assert ada.authorize(redirect_uri="http://127.0.0.1:5000/new").status_code == 400
    assert press(ada, f"{HERE}/redirect-uris", add="javascript:alert(1)").status_code == 400


def test_a_new_secret_is_shown_and_the_old_one_counts_no_more(ada):
    secret = shown(press(ada, f"{HERE}/secret"))["Client secret"]
    assert ada.post("/oauth2/token", data=PASSWORD).status_code == 401
    form = {**PASSWORD, "client_secret": secret}
    assert ada.post("/oauth2/token", data=form).status_code == 200


def test_a_new_api_key_ends_the_old_one(ada):
    keys = [shown(press(ada, f"{HERE}/api-key"))["API key"] for _ in range(2)]
    found = [
        ada.get(f"{RESOURCE}/v3/profiles/ada", headers={"Authorization": f"Bearer {key}"})
        for key in keys
    ]
    assert [answer.status_code for answer in found] == [401, 200]


def test_a_grant_is_revoked_and_its_token_dead_at_once(ada):
    token, other = ada.token(mock_approve="ben"), ada.token()
    page = ada.get(HERE)
    named = re.search(r'name="token" value="(\w+)" aria-label="Revoke the grant of ben"', page.text)
    assert named
    assert token not in unescape(page.text)
    press(ada, f"{HERE}/grants", token=named[1])
    assert (ada.me(token).status_code, ada.me(other).status_code) == (401, 200)
    assert press(ada, f"{HERE}/grants", token=named[1]).status_code == 400


def test_a_token_of_no_application_cannot_be_revoked_here(ada):
    assert press(ada, f"{HERE}/grants", token="ada-full").status_code == 400
    assert ada.me("ada-full").status_code == 200


def test_deleting_an_application_ends_its_tokens(ada):
    token = ada.token()
    page = press(ada, f"{HERE}/deletion")
    assert "Trail Journal" not in page.text
    assert ada.me(token).status_code == 401
    assert ada.get(HERE).status_code == 404


def test_what_a_client_did_badly_is_told(ada, time):
    assert "No advice." in ada.get(HERE).text
    ada.code(state=None)
    time.advance(timedelta(minutes=10))
    ada.sign_in()
    text = ada.get(HERE).text
    assert "No state was sent" in text
    assert "No code_challenge was sent" in text
    assert "A code was never exchanged" in text


def test_what_was_typed_survives_a_refusal(ada):
    typed = {"name": "Bells & <Whistles>", "redirect_uris": f"{CALLBACK}\nnot-an-address"}
    page = press(ada, "/apps", "/apps", **typed)
    assert page.status_code == 400
    assert 'value="Bells &amp; &lt;Whistles&gt;"' in page.text
    assert f">{CALLBACK}\nnot-an-address</textarea>" in page.text


def test_redirect_addresses_are_one_per_line(ada, mock):
    uris = f"  {CALLBACK}\r\n\r\nhttp://127.0.0.1:3000/other  \n"
    press(ada, "/apps", "/apps", name="Two", redirect_uris=uris)
    made = [app for _, app in mock.world.items(APPLICATIONS) if app.name == "Two"]
    assert made[0].redirect_uris == (CALLBACK, "http://127.0.0.1:3000/other")
    page = press(ada, "/apps", "/apps", name="One line", redirect_uris=f"{CALLBACK} {CALLBACK}")
    assert page.status_code == 400


def test_an_address_that_is_refused_stays_in_its_field(ada):
    page = press(ada, f"{HERE}/redirect-uris", add="javascript:alert(1)")
    assert 'value="javascript:alert(1)"' in page.text
