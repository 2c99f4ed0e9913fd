"""The code of an authorization is masked wherever it stands, and the code of a language is a word."""

import json

from tests.mock.admin.conftest import AUTHORIZATION, Driver
from tests.mock.admin.test_capsules import saved, text_of

LANGUAGE = "zh-Hant-TW"
OAUTH_CODE = "s3cretCodeOfAnAuthorization"
TOKEN_URL = f"{AUTHORIZATION}/oauth2/token"


def send_codes(driver: Driver) -> list[str]:
    """Sends a code in every place where a client may have one; returns the languages of a profile."""
    request = {"grant_type": "authorization_code", "code": OAUTH_CODE, "client_id": "browser-app"}
    profile = driver.ask("GET", "/v3/me/profile", token="ada-full").json()
    driver.ask("GET", f"/v3/profiles/ada?code={LANGUAGE}")
    driver.ask("POST", TOKEN_URL, data=request)
    driver.ask("POST", TOKEN_URL, json=request)
    driver.ask("POST", f"{TOKEN_URL}?code={OAUTH_CODE}")
    driver.ask("GET", f"/callback?code={OAUTH_CODE}")
    referer = f"https://app.example/?state=s&code={OAUTH_CODE}"
    driver.ask("GET", "/v3/profiles/ada", headers={"Referer": referer})
    return [language["code"] for language in profile["languages"]]


def test_the_journal_masks_codes_of_authorizations_and_shows_codes_of_languages(driver: Driver):
    languages = send_codes(driver)
    for path in ("/__admin/requests", "/__admin/requests/har"):
        assert OAUTH_CODE not in driver.get(path).text
    requests = driver.admin("GET", "/requests")["requests"]
    (body,) = (
        each["response"]["body"] for each in requests if each["request"]["url"] == "/v3/me/profile"
    )
    assert [language["code"] for language in json.loads(body)["languages"]] == languages
    assert languages
    assert f"/v3/profiles/ada?code={LANGUAGE}" in [each["request"]["url"] for each in requests]


def test_a_capsule_has_codes_of_languages_and_none_of_an_authorization(driver: Driver):
    send_codes(driver)
    text = text_of(saved(driver))
    assert OAUTH_CODE not in text
    assert f"code={LANGUAGE}" in text
