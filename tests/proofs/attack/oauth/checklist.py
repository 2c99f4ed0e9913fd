"""What a check of the OAuth list is, and the expectations that several of its tables share.

The list is in our own words. Each check names the paragraph that it comes from: the RFCs that the
interface builds on (6749, 6750, 7636), those whose duties a server of tokens has by another name
(7009, 7662), the security best current practice (RFC 9700), or the interface itself.
"""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
from tests.mock.authserver.conftest import CALLBACK, EXCHANGE, PASSWORD, REQUEST, Browser, answered

from understudy.mock.store.applications import CODES
from understudy.mock.store.tokens import TOKENS

AUTHORIZE_PATH = "/oauth2/authorize"
TOKEN_PATH = "/oauth2/token"
TOKEN_INFO_PATH = "/oauth2/token-info"


class OAuthCheck(NamedTuple):
    """One thing that the authorization server must hold.

    Attributes:
        title: What must hold, as a sentence.
        source: The paragraph that asks for it.
        run: Tries it with a browser at a fresh mock; raises AssertionError where it does not hold.
    """

    title: str
    source: str
    run: Callable[[Browser], None]


def authorization_request(**changes: str | None) -> list[tuple[str, str]]:
    """Returns the query of a good request that ada approves, with changes; None leaves out."""
    changed = {**REQUEST, "mock_approve": "ada", **changes}
    return [(name, text) for name, text in changed.items() if text is not None]


def granted(browser: Browser) -> int:
    """Returns the number of codes and tokens that people granted."""
    world = browser.mock.world
    tokens = [token for _, token in world.items(TOKENS) if token.about.startswith("granted")]
    return len(tokens) + len(list(world.items(CODES)))


def expect_page(response: httpx.Response, browser: Browser) -> None:
    """Expects an error page that leads nowhere, and that nothing was granted."""
    assert response.status_code == 400, response.status_code
    assert "location" not in response.headers
    assert response.headers["content-type"].startswith("text/html")
    assert "http-equiv" not in response.text.lower()
    assert granted(browser) == 0


def expect_redirected_error(response: httpx.Response, error: str, browser: Browser) -> None:
    """Expects an error at the registered address, with the state, and that nothing was granted."""
    members = answered(response)
    assert members["error"] == error, members
    assert members["state"] == "s"
    assert is_description(members.get("error_description", "")), members
    assert members.keys() <= {"error", "error_description", "state"}
    assert response.headers["location"].startswith(CALLBACK)
    assert granted(browser) == 0


def expect_token_error(response: httpx.Response, error: str, status: int = 400) -> None:
    """Expects an error in the shape of RFC 6749, 5.2, which no cache may keep."""
    assert response.status_code == status, (response.status_code, response.text)
    body = response.json()
    assert body["error"] == error, body
    assert body.keys() <= {"error", "error_description", "error_uri"}
    assert is_description(body.get("error_description", "")), body
    assert response.headers["content-type"].startswith("application/json")
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["pragma"] == "no-cache"


def is_description(text: str) -> bool:
    """Tells whether a text has only characters that a description may have (RFC 6749, 5.2)."""
    return all(" " <= character <= "~" and character not in '"\\' for character in text)


def exchange(browser: Browser, code: str | None = None, **changes: str) -> httpx.Response:
    """Exchanges a code, a fresh one by default."""
    form = {**EXCHANGE, "code": code or browser.code(), **changes}
    return browser.post(TOKEN_PATH, data={name: text for name, text in form.items() if text})


def token_by_password(browser: Browser, scope: str = "") -> str:
    """Returns a token of the password grant."""
    form = {**PASSWORD, **({"scope": scope} if scope else {})}
    token: str = browser.post(TOKEN_PATH, data=form).json()["access_token"]
    return token


def members_of(url: str) -> dict[str, list[str]]:
    """Returns the members in the query of an address."""
    return parse_qs(urlsplit(url).query, keep_blank_values=True)
