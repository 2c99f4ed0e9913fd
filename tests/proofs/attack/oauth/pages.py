"""The checks of what people see: sign-in, consent and dashboard."""

from collections.abc import Callable

import httpx
from tests.mock.authserver.conftest import AUTHORIZATION, IMPLICIT, Browser, answered, hidden
from tests.proofs.attack.oauth.checklist import OAuthCheck, granted

from understudy.mock.store.applications import CODES


def _consent(browser: Browser) -> httpx.Response:
    browser.sign_in()
    return browser.authorize()


def _dashboard(browser: Browser) -> httpx.Response:
    browser.sign_in()
    return browser.get("/apps/server-app")


_PAGES = {
    "sign-in": lambda browser: browser.get("/sign-in"),
    "consent": _consent,
    "dashboard": _dashboard,
    "error": lambda browser: browser.authorize(client_id="unknown"),
    "front": lambda browser: browser.get("/"),
}


def _header(page: str, title: str, source: str, name: str, part: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        assert part in _PAGES[page](browser).headers.get(name, "")

    return OAuthCheck(f"the {page} page {title}", source, run)


HEADERS = [
    _header(page, title, source, name, part)
    for page in _PAGES
    for title, source, name, part in (
        ("is not framed", "RFC 9700, 4.16", "content-security-policy", "frame-ancestors 'none'"),
        ("is not framed by old browsers", "RFC 6749, 10.13", "x-frame-options", "DENY"),
        ("sends no Referer", "RFC 9700, 4.2.4", "referrer-policy", "no-referrer"),
        ("is not stored", "RFC 9700, 4.2.4", "cache-control", "no-store"),
    )
]


def _unread(page: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        browser.headers["Origin"] = "https://attacker.example"
        names = _PAGES[page](browser).headers
        assert not [name for name in names if name.startswith("access-control")]

    return OAuthCheck(f"the {page} page is read by no other origin", "RFC 9700, 4.17", run)


def _attempt(title: str, source: str, attempt: Callable[[Browser], httpx.Response]) -> OAuthCheck:
    """A decision or form that must be refused, and must grant nothing."""

    def run(browser: Browser) -> None:
        response = attempt(browser)
        assert response.status_code in {400, 401, 403, 405}, response.status_code
        assert "location" not in response.headers
        assert granted(browser) == 0

    return OAuthCheck(title, source, run)


def _without(*names: str) -> Callable[[Browser], httpx.Response]:
    def attempt(browser: Browser) -> httpx.Response:
        form = hidden(_consent(browser))
        kept = {name: text for name, text in form.items() if name not in names}
        return browser.post("/consent", data={**kept, "decision": "approve"})

    return attempt


def _with(**fields: str) -> Callable[[Browser], httpx.Response]:
    def attempt(browser: Browser) -> httpx.Response:
        form = {**hidden(_consent(browser)), "decision": "approve", **fields}
        return browser.post("/consent", data=form)

    return attempt


def _of_another_session(browser: Browser) -> httpx.Response:
    page = _consent(browser)
    with Browser(browser.mock) as other:
        other.sign_in("ben")
        own = hidden(other.authorize())
        return other.post(
            "/consent", data={**hidden(page), "csrf": own["csrf"], "decision": "approve"}
        )


def _after_signing_out(browser: Browser) -> httpx.Response:
    page = _consent(browser)
    browser.post("/sign-out", data={"csrf": hidden(page)["csrf"]})
    return browser.decide(page)


def _by_get(browser: Browser) -> httpx.Response:
    form = {**hidden(_consent(browser)), "decision": "approve"}
    return browser.get("/consent", params=form)


def _without_cookie(browser: Browser) -> httpx.Response:
    page = _consent(browser)
    browser.cookies.clear()
    return browser.decide(page)


_CSRF = "RFC 6749, 10.12; RFC 9700, 4.7"

DECISIONS = [
    _attempt("a decision without the form's secret is refused", _CSRF, _without("csrf")),
    _attempt("a decision with a wrong secret is refused", _CSRF, _with(csrf="x")),
    _attempt("a decision with an empty secret is refused", _CSRF, _with(csrf="")),
    _attempt("a decision without a ticket is refused", _CSRF, _without("ticket")),
    _attempt("a decision with an invented ticket is refused", _CSRF, _with(ticket="0" * 32)),
    _attempt(
        "a decision that is neither is refused",
        "interface, Authorization request",
        _with(decision="yes"),
    ),
    _attempt(
        "a decision in capitals is refused",
        "interface, Authorization request",
        _with(decision="APPROVE"),
    ),
    _attempt("a decision of another session is refused", _CSRF, _of_another_session),
    _attempt("a decision after signing out is refused", _CSRF, _after_signing_out),
    _attempt("a decision is not a GET", "RFC 6749, 10.12", _by_get),
    _attempt("a decision without the cookie is refused", _CSRF, _without_cookie),
]


def _ticket_once(browser: Browser) -> None:
    page = _consent(browser)
    assert "code" in answered(browser.decide(page))
    again = browser.decide(page)
    assert (again.status_code, "sent before" in again.text, granted(browser)) == (400, True, 1)


def _denied_ticket(browser: Browser) -> None:
    page = _consent(browser)
    assert answered(browser.decide(page, "deny"))["error"] == "access_denied"
    assert browser.decide(page).status_code == 400
    assert granted(browser) == 0


def _form_cannot_widen(browser: Browser) -> None:
    form = {**hidden(_consent(browser)), "decision": "approve", "scope[2]": "avatar-profile:manage"}
    form |= {"redirect_uri": "http://attacker.example/", "query": "client_id=browser-app"}
    form |= {"person": "ben", "scope[0]": "avatar-profile:manage"}
    location = browser.post("/consent", data=form).headers["location"]
    assert location.startswith("http://127.0.0.1:5000/callback?code=")
    [(_, code)] = browser.mock.world.items(CODES)
    assert (code.person, code.scopes) == ("ada", ("auth", "avatar-profile:read"))


def _names_what_is_granted(browser: Browser) -> None:
    page = _consent(browser).text
    assert "Trail Journal" in page
    assert "127.0.0.1:5000" in page
    assert "Know who you are" in page
    assert "Read your profile" in page
    assert "Edit your profile" not in page


def _new_session(browser: Browser) -> None:
    browser.get("/sign-in")
    before = dict(browser.cookies)
    browser.sign_in()
    assert dict(browser.cookies) != before


def _planted_session(browser: Browser) -> None:
    with Browser(browser.mock) as attacker:
        attacker.get("/sign-in")
        planted = dict(attacker.cookies)
        browser.cookies.update(planted)
        browser.sign_in()
        assert (
            attacker.get("/apps").status_code != 200
            or "Trail Journal" not in attacker.get("/apps").text
        )


def _cookie_flags(browser: Browser) -> None:
    cookie = browser.get("/sign-in").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def _cookie_over_tls(browser: Browser) -> None:
    proxy = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "127.0.0.1:8443"}
    assert "Secure" in browser.get("/sign-in", headers=proxy).headers["set-cookie"]


def _sign_in_needs_the_secret(browser: Browser) -> None:
    form = {"username": "ada", "password": "ada-password", "csrf": "x"}
    assert browser.post("/sign-in", data=form).status_code == 400


def _onward(query: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        location = browser.sign_in(query=query).headers["location"]
        assert location.startswith((f"{AUTHORIZATION}/oauth2/authorize?", f"{AUTHORIZATION}/apps"))

    title = f"signing in with the query {query!r} stays on this site"
    return OAuthCheck(title, "RFC 9700, 4.11", run)


def _guesses_are_slowed(browser: Browser) -> None:
    form = {**hidden(browser.get("/sign-in")), "username": "ada"}
    for number in range(10):
        browser.post("/sign-in", data={**form, "password": f"guess-{number}"})
    assert browser.post("/sign-in", data={**form, "password": "ada-password"}).status_code == 429


def _markup(name: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        text = "\"><script>alert(1)</script>'"
        assert "<script>alert" not in browser.authorize(**{name: text}).text

    return OAuthCheck(f"markup in {name} is not markup of the page", "RFC 6749, 10.14", run)


def _foreign_application(browser: Browser) -> None:
    browser.sign_in("ben")
    assert browser.get("/apps/server-app").status_code == 404


def _policy_names_the_address(browser: Browser) -> None:
    policy = _consent(browser).headers["content-security-policy"]
    assert "form-action 'self' http://127.0.0.1:5000;" in policy


def _rebound(browser: Browser) -> None:
    for path in ("/", "/sign-in", "/apps", "/oauth2/authorize", "/oauth2/token-info"):
        page = browser.get(path, headers={"Host": "attacker.example"})
        assert page.status_code == 403
        assert "Host 'attacker.example' is not a loopback host name" in page.text


def _implicit_consent(browser: Browser) -> None:
    browser.sign_in()
    members = answered(browser.decide(browser.authorize(**IMPLICIT)))
    assert browser.me(members["access_token"]).status_code == 200


PEOPLE = [
    OAuthCheck("a ticket is valid once", _CSRF, _ticket_once),
    OAuthCheck("a denied ticket grants nothing later", _CSRF, _denied_ticket),
    OAuthCheck("the form decides neither scope nor address", "RFC 9700, 4.1", _form_cannot_widen),
    OAuthCheck(
        "the page names client, address and scopes", "RFC 6749, 10.2", _names_what_is_granted
    ),
    OAuthCheck("signing in makes a new session", "RFC 9700, 4.7", _new_session),
    OAuthCheck("a planted session is not signed in", "RFC 9700, 4.7", _planted_session),
    OAuthCheck("the cookie is closed to scripts and other sites", "RFC 6749, 10.12", _cookie_flags),
    OAuthCheck(
        "the cookie of https is sent over https only", "RFC 6265, 4.1.2.5", _cookie_over_tls
    ),
    OAuthCheck("signing in needs the form's secret", _CSRF, _sign_in_needs_the_secret),
    *[
        _onward(query)
        for query in (
            "//attacker.example",
            "@attacker.example",
            "\r\nLocation: http://a.example",
            "\\\\a",
        )
    ],
    OAuthCheck("guessing at a password is slowed", "RFC 6749, 10.10", _guesses_are_slowed),
    *[
        _markup(name)
        for name in ("client_id", "redirect_uri", "state", "scope[0]", "response_type")
    ],
    OAuthCheck("an application is shown to its owner alone", "RFC 9700, 2.5", _foreign_application),
    OAuthCheck(
        "forms lead to the registered address alone", "RFC 9700, 4.16", _policy_names_the_address
    ),
    OAuthCheck("a rebound name gets nothing", "RFC 9700, 4.17", _rebound),
    OAuthCheck("an approved implicit request has its token", "RFC 6749, 4.2", _implicit_consent),
]

CHECKS: list[OAuthCheck] = [
    *HEADERS,
    *[_unread(page) for page in _PAGES],
    *DECISIONS,
    *PEOPLE,
]
