"""Mutants of state, scopes, redirects and codes in unusual but lawful requests, made by hand."""

import html
from threading import Barrier, Lock, current_thread
from urllib.parse import unquote_plus

import httpx
import orjson
from tests.proofs.mutants.edge import (
    INFO,
    OWN,
    TOKEN,
    answer,
    asking,
    at,
    form_of,
    members_of,
    mutant,
    path_of,
    query_of,
    register,
    said,
)
from tests.proofs.mutants.redirects import CALLBACK, is_ask, retold

from understudy.verify.gateway import TOGETHER

STATE = "state-echoed"
OPEN = ("redirect-uri-registered", "authorize-error-page")
PATIENCE = 30
"""Seconds that the first of two requests waits for the second, which is sent in any case."""


def is_sent_alone():
    """Tells whether the request that this thread carries out is none of several sent at once."""
    return not current_thread().name.startswith(TOGETHER)


def _state(name, edit):
    """Registers a deployment that returns another state than it was sent."""

    def change(request, send):
        edited = lambda members: {**members, "state": edit(members["state"])}
        return retold(send(request), "state", edited)

    register(name, (STATE,), change)


_state("a_plus_in_the_state_becomes_a_space", lambda t: t.replace("+", " "))
_state("the_state_is_decoded_twice", unquote_plus)
_state("the_state_is_cut_at_a_hash", lambda t: t.partition("#")[0])
_state("the_state_is_cut_after_64_characters", lambda t: t[:64])
_state("the_state_is_cut_after_128_characters", lambda t: t[:128])
_state("the_state_is_in_lower_case", str.lower)
_state("the_state_is_escaped_for_html", html.escape)
_state("quotation_marks_vanish_from_the_state", lambda t: t.replace('"', ""))
_state("a_semicolon_ends_the_state", lambda t: t.partition(";")[0])


def _redirecting(name, is_meant, error):
    """Registers an open redirector: an error goes to whatever address the request names."""

    def change(request, send):
        uri = query_of(request).get("redirect_uri", "")
        if is_ask(request) and uri and uri != CALLBACK and is_meant(query_of(request)):
            return httpx.Response(302, headers={"location": f"{uri}?error={error}"})
        return send(request)

    register(name, OPEN, change)


_redirecting(
    "a_wrong_response_type_is_told_to_any_address",
    lambda q: q.get("response_type") not in {"code", "token"},
    "unsupported_response_type",
)
_redirecting(
    "a_missing_scope_is_told_to_any_address",
    lambda q: not any(name.startswith("scope") for name in q),
    "invalid_scope",
)
_redirecting("a_denial_is_told_to_any_address", lambda q: "mock_deny" in q, "access_denied")


def _scopes_of(request):
    return [text for name, text in query_of(request).items() if name.startswith("scope")]


def _rescoped(name, rescope):
    """Registers a deployment that grants other scopes than were asked for."""

    def change(request, send):
        scopes = _scopes_of(request)
        if not is_ask(request) or not scopes or "auth" not in " ".join(scopes):
            return send(request)
        dropped = {name: None for name in query_of(request) if name.startswith("scope")}
        words = rescope(" ".join(scopes).split())
        numbered = {f"scope[{place}]": word for place, word in enumerate(words)}
        return send(asking(request, query={**dropped, **numbered}))

    register(name, ("scope-indexed-array", "scope-any-index", "scope-space-joined"), change)


_rescoped("of_three_scopes_the_last_is_dropped", lambda words: words[:2])
_rescoped(
    "managing_grants_reading_too",
    lambda words: (
        [*words, "avatar-profile:read"] if words[1:] == ["avatar-profile:manage"] else words
    ),
)
_rescoped(
    "all_three_scopes_grant_but_reading",
    lambda words: ["auth", "avatar-profile:read"] if len(words) == 3 else words,
)
_rescoped(
    "auth_is_read_in_the_first_place_only",
    lambda words: words if words[0] == "auth" else ["avatar-profile:read"],
)
_rescoped(
    "the_scope_after_auth_is_lost_in_another_order",
    lambda words: words if words[0] == "auth" else ["auth"],
)
_rescoped(
    "reading_grants_managing_too",
    lambda words: [*words, "avatar-profile:manage"] if len(words) == 2 else words,
)
_rescoped(
    "auth_alone_grants_reading_too",
    lambda words: ["auth", "avatar-profile:read"] if words == ["auth"] else words,
)


@mutant("token-info", "scope-indexed-array", "scope-any-index", "scope-space-joined")
def token_info_always_tells_all_scopes(request, send):
    response = send(request)
    if at(request, "GET", INFO) and response.status_code == 200:
        every = "auth avatar-profile:read avatar-profile:manage"
        return answer(response, body={**said(response), "scope": every})
    return response


def _racing(name, rules, is_meant, key_of):
    """Registers a deployment where two requests at the same moment do not see each other.

    The one that comes second is given the first one's response: both read before either wrote.
    """

    def change(request, send, barrier, lock, first):
        if not is_meant(request) or is_sent_alone():
            return send(request)
        barrier.wait(PATIENCE)
        with lock:
            key = key_of(request)
            if key in first:
                response = first.pop(key)
                return httpx.Response(200, headers=response.headers, content=response.content)
            first[key] = send(request)
            first[key].read()
            return first[key]

    register(name, rules, change, barrier=lambda: Barrier(2), lock=Lock, first=dict)


_racing(
    "a_code_is_redeemed_twice_at_the_same_moment",
    ("code-single-use",),
    lambda r: path_of(r) == TOKEN and form_of(r).get("grant_type") == "authorization_code",
    lambda r: form_of(r).get("code"),
)


@mutant(
    "profile-patch-partial",
    "profile-patch-seven-fields",
    barrier=lambda: Barrier(2),
    lock=Lock,
    written=list,
)
def of_two_updates_at_the_same_moment_one_is_lost(request, send, barrier, lock, written):
    if not at(request, "PATCH", OWN) or is_sent_alone():
        return send(request)
    with lock:
        before = said(send(asking(request, method="GET", body=b"")))
    barrier.wait(PATIENCE)
    with lock:
        lost = {name: before[name] for name in written}
        members = members_of(request)
        written[:] = [] if written else members
        return send(asking(request, body=orjson.dumps({**lost, **members})))
