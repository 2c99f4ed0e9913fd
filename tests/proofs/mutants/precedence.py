"""Mutants of which of two errors counts, and of odd query parameters, made by hand."""

from functools import partial
from urllib.parse import urlsplit

import httpx
from tests.proofs.mutants.edge import (
    LIST,
    LOOKUP,
    MUTANTS,
    OWN,
    QR,
    Change,
    Mutant,
    Send,
    answer,
    asking,
    at,
    is_avatar,
    members_of,
    mutant,
    path_of,
    who,
)

MADE_UP = "understudy-made-up"


def _query(request: httpx.Request) -> str:
    return urlsplit(str(request.url)).query


@mutant("avatar-body-both-wrong")
def an_unknown_avatar_is_refused_before_the_rating(request, send):
    response = send(request)
    is_update = is_avatar(request, "PATCH") and MADE_UP in path_of(request)
    is_wrong = members_of(request).get("rating") not in ("G", "PG", "R", "X")
    return answer(response, status=404) if is_update and is_wrong else response


@mutant("scope-body-both-wrong")
def an_invalid_update_is_refused_before_its_scope(request, send):
    is_update = at(request, "PATCH", OWN)
    is_invalid = any(not isinstance(value, str) for value in members_of(request).values())
    return send(asking(request, token="ada-full")) if is_update and is_invalid else send(request)


@mutant("invalid-token-unknown-profile")
def an_unknown_identifier_is_refused_before_the_token(request, send):
    if not at(request, "GET", LOOKUP) or MADE_UP not in path_of(request):
        return send(request)
    anonymous = asking(request)
    anonymous.headers.pop("authorization", None)
    return send(anonymous)


@mutant("query-parameter-repeated")
def of_two_sizes_the_last_is_drawn(request, send):
    sizes = _query(request).split("&")
    is_repeated = at(request, "GET", QR) and len(sizes) == 2 and _query(request).count("size=") == 2
    return send(
        asking(request, query={"size": sizes[-1].removeprefix("size=")}) if is_repeated else request
    )


@mutant("query-parameter-empty")
def an_empty_size_is_none(request, send):
    is_empty = at(request, "GET", QR) and _query(request) == "size="
    return send(asking(request, query={"size": None}) if is_empty else request)


def _read_with_any_scope(path: str) -> Change:
    def change(request: httpx.Request, send: Send) -> httpx.Response:
        response = send(request)
        is_lacking = at(request, "GET", path) and response.status_code == 403
        is_known = is_lacking and who(request) not in {"ada-no-auth", "ada-auth-only"}
        return send(asking(request, token="ada-full")) if is_known else response

    return change


MUTANTS += [
    Mutant(f"{path} is read with the manage scope", (rule,), partial(_read_with_any_scope, path))
    for rule, path in (
        ("scope-of-own-profile", OWN),
        ("scope-of-avatar-list", LIST),
        ("scope-of-associated-email", "/me/associated-email"),
    )
]
