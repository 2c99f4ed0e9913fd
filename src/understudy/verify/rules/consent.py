"""Consent and denial, and the pages where a person decides (interface, Authorization request)."""

import re
from dataclasses import replace
from html import unescape
from http import HTTPStatus

from understudy.exchange.messages import Exchange
from understudy.interface.operations import AUTHORIZE, TOKEN_INFO
from understudy.interface.scopes import MANAGE_PROFILE, READ_PROFILE, SCOPES
from understudy.terminal import counted
from understudy.verify.browsing import (
    STATE,
    WORDS,
    Flow,
    code_in,
    decide,
    form_of,
    info,
    parameters,
    post,
    pressed,
    token_in,
)
from understudy.verify.checks import (
    CheckResult,
    check,
    expect,
    found,
    proven,
    succeeded,
    tells,
    unless,
)
from understudy.verify.grant_history import (
    application_of,
    client_and_redirect_match,
    is_granted,
    is_page,
    is_sound,
    issue_of,
    scopes,
)
from understudy.verify.history import History
from understudy.verify.issued_values import forms_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.value_texts import as_json


def _decision_in(exchange: Exchange, history: History) -> str:
    """Returns the decision in the query, which test deployments can accept; else an empty text."""
    app = history.target.application
    names = set(exchange.request.query)
    for word, shortcut in (("approve", app.approve), ("deny", app.deny)):
        if shortcut and shortcut.partition("=")[0] in names:
            return word
    return ""


is_undecided = unless(_decision_in, "the request does not itself say what the person decides")
is_consent_page = tells(
    "the response is a page with a button to approve",
    lambda it, _: it.status == HTTPStatus.OK and pressed(forms_in(it), "approve")[0] is not None,
)


def ends_valid_request(exchange: Exchange, history: History) -> bool:
    """Tells whether the exchange belongs to a valid authorization request."""
    authorization = history.request_behind(exchange)
    if authorization is None or application_of(authorization, history) is None:
        return False
    return is_sound(authorization, history)


def is_denial(exchange: Exchange, history: History) -> bool:
    """Tells whether the person denied access."""
    authorization = history.request_behind(exchange)
    fields = exchange.request.form.items()
    is_pressed = any(WORDS["deny"].fullmatch(text) for _, text in fields)
    return is_pressed or (authorization is exchange and _decision_in(exchange, history) == "deny")


def page_behind(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the consent page on which the token of a request was approved."""
    issue = issue_of(exchange, history)
    redirect = history.redirect_with(issue.request.form.get("code")) if issue else None
    authorization = history.request_behind(redirect) if redirect else None
    if redirect is None or authorization is None:
        return None
    pages = (
        page
        for page in reversed(history.exchanges)
        if page.source == redirect.source
        and authorization.number <= page.number < redirect.number
        and is_consent_page(page, history)
    )
    return next(pages, None)


def _profile_scopes_in(text: str) -> set[str]:
    return {scope for scope in (READ_PROFILE, MANAGE_PROFILE) if scope in text}


def was_approved_by_names(exchange: Exchange, history: History) -> bool:
    """Tells whether the token was approved on a page that lists scopes by their names."""
    page = page_behind(exchange, history)
    return page is not None and bool(_profile_scopes_in(_text_of(page)))


def _text_of(exchange: Exchange) -> str:
    return unescape(exchange.response.body.decode("utf-8", "replace"))


@check(
    "consent-by-person", on=[AUTHORIZE], when=[client_and_redirect_match, is_sound, is_undecided]
)
def consent_is_requested(exchange: Exchange, _history: History) -> CheckResult:
    """Nothing is granted before a person has consented."""
    names = sorted(exchange.redirect_parameters)
    return expect(not is_granted(exchange), "a page that asks for consent", names)


@check(
    "consent-names-scopes",
    on=[AUTHORIZE],
    when=[client_and_redirect_match, is_sound, is_consent_page],
)
def page_names_application_and_scopes(exchange: Exchange, history: History) -> CheckResult:
    """The consent page names the application, and has a line for each scope."""
    app, page = proven(application_of(exchange, history)), _text_of(exchange)
    lacking = [scope for scope in scopes(exchange) if scope not in page]
    lines = len(re.findall(r"<li\b", page))
    lacks_name = app.name is not None and app.name not in page
    unnamed = ["the application's name"] if lacks_name else []
    actual = f"{counted(lines, 'line')}, lacking {', '.join([*unnamed, *lacking]) or 'no name'}"
    is_right = not lacking and not lacks_name and lines >= len(scopes(exchange))
    return expect(is_right, "the application's name and a line a scope", actual)


@check("consent-by-person", on=[TOKEN_INFO], when=[succeeded, was_approved_by_names])
def token_has_only_approved_scopes(exchange: Exchange, history: History) -> CheckResult:
    """A token has no scope that the consent page did not list."""
    page = proven(page_behind(exchange, history))
    listed = _profile_scopes_in(_text_of(page))
    granted = _profile_scopes_in(str(exchange.json_object.get("scope")))
    expected = f"no more than the page lists: {', '.join(sorted(listed))}"
    return expect(granted <= listed, expected, ", ".join(sorted(granted)), page)


def person_behind(exchange: Exchange, history: History) -> str | None:
    """Returns the user name of the person who signed in to approve the token of a request."""
    issue = issue_of(exchange, history)
    redirect = history.redirect_with(issue.request.form.get("code")) if issue else None
    if redirect is None:
        return None
    target = history.target
    people = {target.application.username, target.other_application.username} - {None}
    for sent in reversed(history.exchanges):
        if sent.source == redirect.source and sent.number <= redirect.number:
            names = [name for name in sent.request.form.values() if name in people]
            if names:
                return names[0]
    return None


def info_of_other_person(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the token information of a token that another person approved."""
    person = person_behind(exchange, history)
    for before in history.of(TOKEN_INFO):
        other = person_behind(before, history)
        if person and other not in {None, person} and before.response.is_success:
            return before
    return None


other_person_approved = found(info_of_other_person, "another person approved another token")


@check("consent-by-person", on=[TOKEN_INFO], when=[succeeded, other_person_approved])
def token_is_of_approver(exchange: Exchange, history: History) -> CheckResult:
    """A token belongs to the person who approved it, not to the client's owner (RFC 6749, 1.1)."""
    other = proven(info_of_other_person(exchange, history))
    user, others = (each.json_object.get("user_id") for each in (exchange, other))
    actual = f"user_id {as_json(user)} for both"
    return expect(user != others, "another user_id for another person", actual, other)


@check("denial-access-denied", when=[is_denial, ends_valid_request])
def denial_is_redirected(exchange: Exchange, _history: History) -> CheckResult:
    """A denial redirects with ``access_denied``, and grants nothing."""
    location = exchange.response.header("location")
    is_right = "access_denied" in location and not is_granted(exchange)
    return expect(is_right, "access_denied on the redirect", _shown(exchange))


@check("denial-error-parameter", when=[is_denial, ends_valid_request])
def denial_is_an_error(exchange: Exchange, _history: History) -> CheckResult:
    """A denial redirects with an error and its description (RFC 6749, 4.1.2.1)."""
    denial = exchange.redirect_parameters
    is_right = denial.get("error") == "access_denied" and bool(denial.get("error_description"))
    return expect(is_right, "error=access_denied and a description", _shown(exchange))


def _shown(exchange: Exchange) -> str:
    return f"status {exchange.status}, error {as_json(exchange.redirect_parameters.get('error'))}"


@check("authorize-page-not-framed", on=[AUTHORIZE], when=[is_page])
def page_is_protected(exchange: Exchange, _history: History) -> CheckResult:
    """A page of the flow has no script, and cannot be framed, stored or leaked in a referrer."""
    header, page = exchange.response.header, _text_of(exchange).lower()
    is_framed = "frame-ancestors 'none'" not in header("content-security-policy")
    wrong = {
        "can be framed": is_framed and header("x-frame-options").upper() != "DENY",
        "may be stored": "no-store" not in header("cache-control"),
        "leaks by referrer": header("referrer-policy") != "no-referrer",
        "holds a script": "<script" in page,
    }
    failing = [name for name, is_wrong in wrong.items() if is_wrong]
    return expect(not failing, "neither framed, stored nor leaked, and no script", failing)


@probe(
    "denial-access-denied",
    "denial-error-parameter",
    "state-echoed",
    "fragment-percent-encoded",
    "authorize-error-form",
    needs=("auth_url", "app", "tokens", "denial"),
)
def denied_requests(client: ProbeClient) -> Parts:
    """Has a person deny a request for a code and a request for a token."""
    yield decide(client, parameters(client.app, state="0"), "deny")
    changes = {"state": STATE + "~", "response_type": "token"}
    yield decide(client, parameters(client.app, **changes), "deny")


@probe(
    *("consent-by-person", "consent-names-scopes", "authorize-page-not-framed"),
    *("denial-access-denied", "scope-per-operation", "state-echoed", "scope-indexed-array"),
    needs=("auth_url", "app", "tokens", "password"),
)
def pages_of_two_flows(client: ProbeClient) -> Parts:
    """Has two people approve in two browsers at once, uses the tokens, and denies a request."""
    other, app = client.target.other_application, client.app
    wider = {"state": "second", "scope[2]": MANAGE_PROFILE}
    second_client = replace(client, source=f"{client.source}, second browser")
    flows = (
        Flow(client, parameters(app)),
        Flow(
            second_client,
            parameters(app, **wider),
            other if other.username and other.password else None,
        ),
    )
    redirects = [flow.decide("approve") for flow in flows]
    tokens = []
    for redirect, granted in zip(redirects, (SCOPES[:2], SCOPES), strict=True):
        issued = post(client, form_of(app, code_in(redirect)))
        tokens.append(token_in(client, issued, granted))
        yield info(client, tokens[-1])
    yield from _edits_nothing(client, tokens[0])
    yield Flow(client, parameters(app)).decide("deny")


def _edits_nothing(client: ProbeClient, token: str) -> Parts:
    """Writes a field's current value back, if the run may change any account."""
    if client.target.writes != "full":
        return
    location = client.get("/me/profile", token).json_object.get("location")
    if isinstance(location, str):
        yield client.send("PATCH", "/me/profile", token, json={"location": location})
