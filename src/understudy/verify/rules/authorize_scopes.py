"""Scopes, consent and denial of an authorization request (interface, Authorization request)."""

import re
from html import unescape
from typing import Final

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import AUTHORIZE, TOKEN_INFO
from understudy.verify.browsing import WORDS, forms_in, pressed
from understudy.verify.checks import CheckResult, check, expect
from understudy.verify.history import History
from understudy.verify.rules.authorize import (
    application_of,
    is_back,
    is_granted,
    is_sound,
    scopes,
)

KNOWN: Final = frozenset({"auth", "avatar-profile:read", "avatar-profile:manage"})
_INDEXED: Final = re.compile(r"scope\[(\d+)\]")
OK = 200


def _is_refused(exchange: Exchange) -> bool:
    return not is_granted(exchange) and exchange.status != OK


def _indexes(exchange: Exchange) -> list[int]:
    found = (_INDEXED.fullmatch(name) for name, _ in exchange.request.pairs)
    return [int(match[1]) for match in found if match]


def _is_taken(exchange: Exchange, history: History) -> bool:
    app = application_of(exchange, history)
    is_error = (
        "error" in exchange.redirect_parameters
        and exchange.redirect_parameters.get("error") != "access_denied"
    )
    return exchange.status == OK or (app is not None and is_back(exchange, app) and not is_error)


def _came(exchange: Exchange) -> str:
    return f"status {exchange.status}, error {exchange.redirect_parameters.get('error')!r}"


@check("scope-indexed-array", on=[AUTHORIZE])
def _indexed(exchange: Exchange, history: History) -> CheckResult | None:
    is_plain = _indexes(exchange) and sorted(_indexes(exchange)) == list(
        range(len(_indexes(exchange)))
    )
    if not is_plain or application_of(exchange, history) is None or not is_sound(exchange):
        return None
    return expect(_is_taken(exchange, history), "scopes as an array", _came(exchange))


@check("scope-any-index", on=[AUTHORIZE])
def _any_index(exchange: Exchange, history: History) -> CheckResult | None:
    indexes = _indexes(exchange)
    is_odd = indexes and sorted(indexes) != list(range(len(indexes)))
    if not is_odd or application_of(exchange, history) is None or not is_sound(exchange):
        return None
    return expect(_is_taken(exchange, history), "indexes may start anywhere", _came(exchange))


@check("scope-space-joined", on=[AUTHORIZE])
def _joined(exchange: Exchange, history: History) -> CheckResult | None:
    if "scope" not in exchange.request.query or _indexes(exchange):
        return None
    if application_of(exchange, history) is None or not is_sound(exchange):
        return None
    return expect(_is_taken(exchange, history), "one scope parameter will do", _came(exchange))


@check("scope-indexed-array", "scope-any-index", "scope-space-joined", on=[TOKEN_INFO])
def _granted(exchange: Exchange, history: History) -> CheckResult | None:
    """What the token was granted is what its authorization request asked for."""
    issued = history.issued_by(exchange.request.query.get("token"))
    redirect = None
    if issued is not None and issued.request.form.get("code"):
        redirect = history.redirect_with(issued.request.form["code"])
    elif issued is not None and not issued.request.form:
        redirect = issued
    asked = history.request_behind(redirect) if redirect else None
    if asked is None or not exchange.response.is_success:
        return None
    granted = set(str(exchange.json_object.get("scope")).split())
    return expect(
        granted == scopes(asked), f"{sorted(scopes(asked))}", sorted(granted), asked, issued
    )


@check("scope-at-least-one", on=[AUTHORIZE])
def _at_least_one(exchange: Exchange, history: History) -> CheckResult | None:
    if application_of(exchange, history) is None or scopes(exchange):
        return None
    return expect(_is_refused(exchange), "a refusal", _came(exchange))


@check("scope-auth-needed", on=[AUTHORIZE])
def _auth_needed(exchange: Exchange, history: History) -> CheckResult | None:
    asked = scopes(exchange)
    if application_of(exchange, history) is None or "auth" in asked or not asked:
        return None
    if not asked <= KNOWN or exchange.request.query.get("response_type") not in {"code", "token"}:
        return None
    return expect(
        exchange.redirect_parameters.get("error") == "invalid_scope",
        "invalid_scope",
        _came(exchange),
    )


@check("scope-known", on=[AUTHORIZE])
def _known(exchange: Exchange, history: History) -> CheckResult | None:
    asked = scopes(exchange)
    if application_of(exchange, history) is None or asked <= KNOWN:
        return None
    if exchange.request.query.get("response_type") not in {"code", "token"}:
        return None
    return expect(
        exchange.redirect_parameters.get("error") == "invalid_scope",
        "invalid_scope",
        _came(exchange),
    )


def _decided(exchange: Exchange, history: History) -> str:
    """Returns whether a request itself says who decides, as a deployment for tests may allow."""
    app = history.target.application
    names = set(exchange.request.query)
    for word, wish in (("approve", app.approve), ("deny", app.deny)):
        if wish and wish.partition("=")[0] in names:
            return word
    return ""


@check("consent-by-person", on=[AUTHORIZE])
def _by_person(exchange: Exchange, history: History) -> CheckResult | None:
    app = application_of(exchange, history)
    if app is None or not is_sound(exchange) or _decided(exchange, history):
        return None
    return expect(
        not is_granted(exchange), "a page that asks", sorted(exchange.redirect_parameters)
    )


@check("consent-names-scopes", on=[AUTHORIZE])
def _names_scopes(exchange: Exchange, history: History) -> CheckResult | None:
    app = application_of(exchange, history)
    page = unescape(exchange.response.body.decode("utf-8", "replace"))
    is_consent = exchange.status == OK and pressed(forms_in(exchange), "approve")[0] is not None
    if app is None or not is_consent or not is_sound(exchange):
        return None
    lacking = [scope for scope in scopes(exchange) if scope not in page]
    lines = len(re.findall(r"<li\b", page))
    lacks_name = app.name is not None and app.name not in page
    actual = f"lacking {lacking}, {lines} lines, the name is lacking: {lacks_name}"
    is_right = not lacking and not lacks_name and lines >= len(scopes(exchange))
    return expect(is_right, "the application's name and a line a scope", actual)


@check("denial-access-denied", on=[])
def _denied(exchange: Exchange, history: History) -> CheckResult | None:
    if not _is_denial(exchange, history):
        return None
    location = exchange.response.header("location")
    is_right = "access_denied" in location and not is_granted(exchange)
    return expect(is_right, "access_denied on the redirect", _came(exchange))


@check("denial-error-parameter", on=[])
def _denial_error(exchange: Exchange, history: History) -> CheckResult | None:
    if not _is_denial(exchange, history):
        return None
    is_right = exchange.redirect_parameters.get("error") == "access_denied"
    is_right = is_right and bool(exchange.redirect_parameters.get("error_description"))
    return expect(is_right, "error=access_denied and a description", _came(exchange))


def _is_denial(exchange: Exchange, history: History) -> bool:
    asked = history.request_behind(exchange)
    app = application_of(asked, history) if asked else None
    if asked is None or app is None or not is_sound(asked):
        return False
    fields = exchange.request.form.items()
    is_pressed = any(WORDS["deny"].fullmatch(text) for _, text in fields)
    return (asked is exchange and _decided(asked, history) == "deny") or is_pressed


@check("authorize-page-not-framed", on=[AUTHORIZE])
def _not_framed(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.response.media_type != "text/html" or exchange.status != OK:
        return None
    answer = exchange.response
    page = answer.body.decode("utf-8", "replace").lower()
    framed = "frame-ancestors 'none'" not in answer.header("content-security-policy")
    framed = framed and answer.header("x-frame-options").upper() != "DENY"
    wrong = [
        name
        for name, is_wrong in (
            ("can be framed", framed),
            ("may be stored", "no-store" not in answer.header("cache-control")),
            ("leaks by referrer", answer.header("referrer-policy") != "no-referrer"),
            ("holds a script", "<script" in page),
        )
        if is_wrong
    ]
    return expect(not wrong, "neither framed, stored nor leaked, and no script", wrong)
