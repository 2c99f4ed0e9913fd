"""The checks of whom the authorization endpoint redirects to: the registered address alone."""

from urllib.parse import urlencode

from tests.mock.authserver.conftest import BROWSER_CALLBACK, CALLBACK, Browser
from tests.proofs.attack.oauth.checklist import (
    AUTHORIZE_PATH,
    OAuthCheck,
    authorization_request,
    expect_page,
)

FOREIGN_ADDRESSES = {
    "a further path segment": f"{CALLBACK}/more",
    "a trailing slash": f"{CALLBACK}/",
    "a query": f"{CALLBACK}?next=1",
    "an empty query": f"{CALLBACK}?",
    "a fragment": f"{CALLBACK}#part",
    "an empty fragment": f"{CALLBACK}#",
    "a shorter path": "http://127.0.0.1:5000/",
    "no path": "http://127.0.0.1:5000",
    "a part of the path": "http://127.0.0.1:5000/call",
    "a path that climbs": f"{CALLBACK}/../other",
    "a path that climbs back to itself": "http://127.0.0.1:5000/x/../callback",
    "an encoded path that climbs": f"{CALLBACK}/%2e%2e/other",
    "a dot segment": "http://127.0.0.1:5000/./callback",
    "two slashes": "http://127.0.0.1:5000//callback",
    "an encoded slash": "http://127.0.0.1:5000%2Fcallback",
    "an encoded letter": "http://127.0.0.1:5000/%63allback",
    "a letter encoded twice": "http://127.0.0.1:5000/%2563allback",
    "a path in capitals": "http://127.0.0.1:5000/Callback",
    "a scheme in capitals": "HTTP://127.0.0.1:5000/callback",
    "another scheme": "https://127.0.0.1:5000/callback",
    "a scheme of its own": "app.example://127.0.0.1:5000/callback",
    "another port": "http://127.0.0.1:5001/callback",
    "no port": "http://127.0.0.1/callback",
    "a port with a zero before it": "http://127.0.0.1:05000/callback",
    "another host": "http://attacker.example/callback",
    "the name localhost": "http://localhost:5000/callback",
    "a name that begins like the host": "http://127.0.0.1.attacker.example:5000/callback",
    "a name that ends like the host": "http://attacker.127.0.0.1:5000/callback",
    "a host with a trailing dot": "http://127.0.0.1.:5000/callback",
    "a host as a decimal number": "http://2130706433:5000/callback",
    "a shortened host": "http://127.1:5000/callback",
    "a host as an IPv6 address": "http://[::ffff:127.0.0.1]:5000/callback",
    "a host in full-width digits": "http://\uff11\uff12\uff17.0.0.1:5000/callback",
    "the host as a user name": "http://127.0.0.1:5000@attacker.example/callback",
    "a user name": "http://user@127.0.0.1:5000/callback",
    "a backslash before the host": "http://attacker.example\\@127.0.0.1:5000/callback",
    "a backslash in the path": "http://127.0.0.1:5000\\callback",
    "no scheme": "//127.0.0.1:5000/callback",
    "a path alone": "/callback",
    "a space before it": f" {CALLBACK}",
    "a space after it": f"{CALLBACK} ",
    "a tab in it": "http://127.0.0.1:5000/call\tback",
    "a line end and a header": f"{CALLBACK}\r\nSet-Cookie: a=b",
    "a zero byte": f"{CALLBACK}\x00",
    "an encoded zero byte": f"{CALLBACK}%00",
    "a path parameter": f"{CALLBACK};x=1",
    "a wildcard": "http://127.0.0.1:5000/*",
    "a second address after a space": f"{CALLBACK} http://attacker.example/",
    "a second address after a comma": f"{CALLBACK},http://attacker.example/",
    "a script": "javascript:alert(1)//callback",
    "a data address": "data:text/html,callback",
    "an address of another application": BROWSER_CALLBACK,
    "a response of its own": f"{CALLBACK}?code=planted",
    "invisible characters": f"{CALLBACK}\u200b",
}
"""Addresses that are not the registered one, by what they have or are."""


def _foreign(address: str, response_type: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        changes = {"redirect_uri": FOREIGN_ADDRESSES[address], "response_type": response_type}
        expect_page(browser.authorize(**changes, mock_approve="ada"), browser)

    title = f"{response_type}: a redirect address with or as {address} is refused on a page"
    return OAuthCheck(title, "RFC 9700, 2.1 and 4.1; RFC 6749, 4.1.2.1", run)


def _page(
    title: str,
    source: str,
    *more: tuple[str, str],
    before: tuple[tuple[str, str], ...] = (),
    **changes: str | None,
) -> OAuthCheck:
    """A changed request, between more parameters, that is refused on a page."""
    query = [*before, *authorization_request(**changes), *more]

    def run(browser: Browser) -> None:
        expect_page(browser.get(f"{AUTHORIZE_PATH}?{urlencode(query)}"), browser)

    return OAuthCheck(title, source, run)


PAGES = [
    _page("a request without client_id is refused", "RFC 6749, 4.1.1", client_id=None),
    _page("an empty client_id is refused", "RFC 6749, 3.1", client_id=""),
    _page("an unknown client_id is refused", "RFC 6749, 4.1.2.1", client_id="other"),
    _page("client_id is compared by case", "RFC 6749, 2.2", client_id="SERVER-APP"),
    _page("client_id is not trimmed", "RFC 6749, 2.2", client_id="server-app "),
    _page("client_id is not cut at a zero byte", "RFC 6749, 2.2", client_id="server-app\0"),
    _page("client_id has no wildcards", "RFC 6749, 2.2", client_id="server-*"),
    _page("client_id is not decoded twice", "RFC 6749, 2.2", client_id="server%2Dapp"),
    _page(
        "client_id and the address of another application do not mix",
        "RFC 9700, 4.1",
        client_id="browser-app",
    ),
    _page(
        "a request without redirect_uri is refused",
        "interface, Authorization request",
        redirect_uri=None,
    ),
    _page("an empty redirect_uri is refused", "RFC 6749, 3.1", redirect_uri=""),
    _page("client_id given twice is refused", "RFC 6749, 3.1", ("client_id", "server-app")),
    _page("two different clients are refused", "RFC 6749, 3.1", ("client_id", "browser-app")),
    _page("redirect_uri given twice is refused", "RFC 6749, 3.1", ("redirect_uri", CALLBACK)),
    _page(
        "a second, foreign redirect_uri is refused",
        "RFC 9700, 4.1",
        ("redirect_uri", "http://attacker.example/"),
    ),
    _page(
        "a first, foreign redirect_uri is refused",
        "RFC 9700, 4.1",
        before=(("redirect_uri", "http://attacker.example/"),),
    ),
    _page(
        "a request object does not replace the client",
        "RFC 9700, 4.11; RFC 6749, 3.1",
        before=(("request", "eyJhbGciOiJub25lIn0.e30."),),
        client_id=None,
    ),
    _page(
        "a failed request is not redirected for the error of another parameter",
        "RFC 9700, 4.11.2",
        redirect_uri="http://attacker.example/",
        scope="x",
        response_type="x",
    ),
]


CHECKS: list[OAuthCheck] = [
    *[_foreign(address, "code") for address in FOREIGN_ADDRESSES],
    *[_foreign(address, "token") for address in list(FOREIGN_ADDRESSES)[::6]],
    *PAGES,
]
