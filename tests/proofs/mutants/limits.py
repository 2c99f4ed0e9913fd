"""Mutants of the hourly limits and of the published definition, made by hand."""

from functools import partial
from typing import Any

import httpx
from tests.proofs.mutants.edge import (
    LIST,
    LOOKUP,
    OWN,
    QR,
    answer,
    asking,
    at,
    edits,
    is_profile,
    mutant,
    path_of,
    said,
    who,
)

REMAINING, LIMIT, RESET = "x-ratelimit-remaining", "x-ratelimit-limit", "x-ratelimit-reset"


def _counted(request: httpx.Request) -> bool:
    return is_profile(request) or at(request, "GET", QR)


def _edited(response: httpx.Response, **texts: Any) -> httpx.Response:
    if REMAINING not in response.headers:
        return response
    return answer(response, headers={f"x-ratelimit-{n}": str(t) for n, t in texts.items()})


@mutant("rate-limit-anonymous")
def sixty_an_hour_without_a_token(request, send):
    response = send(request)
    return (
        _edited(response, limit=60, remaining=min(60, int(response.headers.get(REMAINING, 0))))
        if not who(request)
        else response
    )


@mutant("rate-limit-authenticated")
def five_hundred_an_hour_with_a_token(request, send):
    response = send(request)
    return _edited(response, limit=500) if who(request) and not at(request, "GET", QR) else response


@mutant("rate-limit-anonymous", "rate-limit-answer-429", late=lambda: [0])
def the_429_comes_one_request_late(request, send, late):
    response = send(request)
    if response.status_code == 429 and _counted(request) and not late[0]:
        late[0] = 1
        return answer(response, status=200, body={})
    return response


@mutant("rate-limit-anonymous", "rate-limit-answer-429", seen=list)
def the_429_comes_one_request_early(request, send, seen):
    if _counted(request) and not who(request):
        seen.append(1)
        if len(seen) == 20:
            return httpx.Response(429, json={"error": "Rate limit exceeded"})
    return send(request)


@mutant("rate-limit-answer-429")
def limits_are_never_enforced(request, send):
    response = send(request)
    return answer(response, status=200, body={}) if response.status_code == 429 else response


@mutant("rate-limit-answer-429")
def a_429_without_words(request, send):
    response = send(request)
    return answer(response, body=b"slow down") if response.status_code == 429 else response


@mutant("rate-limit-answer-429", kept=dict)
def an_update_beyond_the_limit_is_kept(request, send, kept):
    response = send(request)
    if response.status_code == 429 and at(request, "PATCH", OWN):
        kept["location"] = "over the limit"
    if at(request, "GET", OWN) and kept and response.status_code == 200:
        return answer(response, body={**said(response), **kept})
    return response


@mutant("rate-limit-counted-operations")
def qr_codes_are_not_counted(request, send):
    return _uncounted(request, send) if at(request, "GET", QR) else send(request)


@mutant("rate-limit-counted-operations")
def lookups_count_twice(request, send):
    if at(request, "GET", LOOKUP):
        send(request)
    return send(request)


def _uncounted(request, send):
    response = send(request)
    if REMAINING in response.headers:
        return _edited(response, remaining=int(response.headers[REMAINING]) + 1)
    return response


@mutant("avatar-operations-uncounted", "rate-limit-counted-operations")
def listing_avatars_uses_up_the_limit(request, send):
    if at(request, "GET", LIST):
        send(asking(request, path="/profiles/ada", query={"selected_email_hash": None}))
    return send(request)


@mutant("avatar-operations-uncounted", "rate-limit-counted-operations")
def changing_avatars_uses_up_the_limit(request, send):
    if path_of(request).startswith("/me/avatars/"):
        send(asking(request, path="/profiles/ada", method="GET", body=b""))
    return send(request)


@mutant("avatar-operations-uncounted")
def avatars_are_limited_too(request, send):
    response = send(request)
    if at(request, "GET", LIST) and who(request) == "ada-full":
        spent = send(asking(request, path="/profiles/ada"))
        if spent.status_code == 429:
            return spent
    return response


@mutant("rate-limit-window", moved=lambda: [0])
def the_window_slides(request, send, moved):
    response = send(request)
    moved[0] += 30
    if RESET in response.headers:
        return _edited(response, reset=int(response.headers[RESET]) - 1800 + moved[0])
    return response


@mutant("rate-limit-window")
def the_window_is_a_day(request, send):
    response = send(request)
    if RESET in response.headers:
        return _edited(response, reset=int(response.headers[RESET]) + 23 * 3600)
    return response


@mutant("rate-limit-headers")
def the_reset_is_a_date(request, send):
    return _edited(send(request), reset="Sat, 21 Nov 2026 09:00:00 GMT")


@mutant("rate-limit-headers")
def a_404_says_nothing_of_the_limit(request, send):
    response = send(request)
    if response.status_code == 404 and at(request, "GET", LOOKUP):
        return answer(response, headers={LIMIT: None, REMAINING: None, RESET: None})
    return response


_document = partial(edits, lambda request: at(request, "GET", "/openapi"))


@_document("semantic-version")
def a_version_of_two_numbers(d):
    return {**d, "info": {**d["info"], "version": "3.0"}}


@_document("base-address-major")
def the_definition_is_of_another_major_version(d):
    return {**d, "info": {**d["info"], "version": "4.0.0"}}


@_document("base-address-major")
def the_definition_names_another_address(d):
    return {**d, "servers": [{"url": "http://127.0.0.1:8080/v2"}]}


@mutant("published-document")
def nothing_is_published(request, send):
    return (
        httpx.Response(404, json={"error": "no"})
        if at(request, "GET", "/openapi")
        else send(request)
    )


@_document("published-document")
def an_operation_is_not_published(document):
    paths = {p: item for p, item in document["paths"].items() if "qr-code" not in p}
    return {**document, "paths": paths}


@_document("unknown-response-members")
def answers_are_closed_by_the_definition(document):
    schemas = document["components"]["schemas"]
    schemas["Profile"]["additionalProperties"] = False
    return document
