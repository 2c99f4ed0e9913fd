"""The checks of what redirect addresses may be registered."""

from tests.mock.authserver.conftest import RESOURCE, Browser
from tests.proofs.attack.oauth.checklist import OAuthCheck

UNREGISTRABLE = {
    "a fragment": "https://app.example/#part",
    "an empty fragment": "https://app.example/#",
    "no scheme": "//app.example/",
    "a path alone": "/callback",
    "nothing": "",
    "a script": "javascript:alert(1)",
    "a script in capitals": "JavaScript:alert(1)",
    "a data address": "data:text/html,x",
    "a file": "file:///etc/passwd",
    "an old script": "vbscript:x",
    "a blob": "blob:https://app.example/1",
    "a user name": "https://user@app.example/",
    "a user and password": "https://user:secret@app.example/",
    "a space": "https://app.example/a b",
    "a line end": "https://app.example/\r\nX: y",
    "letters beyond ASCII": "https://b\u00fccher.example/",
    "no host": "https:///callback",
    "a port out of range": "https://app.example:99999/",
    "a port that is not a number": "https://app.example:http/",
    "a wildcard host": "https://*.app.example/",
    "a quote in the host": "https://a'b.example/",
    "a double quote in the host": 'https://a"b.example/',
    "an encoded space in the host": "https://a%20b.example/",
    "a semicolon in the host": "https://a;b.example/",
    "a scheme without a dot": "app:/callback",
    "a backslash": "https://app.example\\@attacker.example/",
}


def _unregistrable(what: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        url = f"{RESOURCE}/__admin/applications/server-app"
        body = {"redirect_uris": [UNREGISTRABLE[what]]}
        assert browser.patch(url, json=body).status_code == 400
        assert browser.get(url).json()["redirect_uris"] == ["http://127.0.0.1:5000/callback"]

    title = f"a redirect address with or as {what} is not registered"
    return OAuthCheck(title, "RFC 6749, 3.1.2; RFC 9700, 4.1.3", run)


CHECKS: list[OAuthCheck] = [_unregistrable(what) for what in UNREGISTRABLE]
