"""Turns of the Authorization header, where an operation wants or knows a bearer token."""

import string
from collections.abc import Callable, Iterator
from random import Random  # noqa: TID251 - seeded by whoever asks

from understudy.generate.cases import encoded_variable, variable
from understudy.generate.drafts import Draft
from understudy.generate.mutations.mutation import Generator, Mutation, rule
from understudy.generate.mutations.operation_context import OperationContext

SLOT = "header Authorization"
HEADER = "Authorization"
REFUSED = ("401",)
TOKEN = variable("token")
BEARER = rule("bearer-header")

_UNKNOWN = {
    "a token that nobody issued": "Bearer understudy-unknown",
    "the token with a letter behind it": f"Bearer {TOKEN}x",
    "the token in quotes": f'Bearer "{TOKEN}"',
    "the word Bearer alone": "Bearer",
    "the token without the word Bearer": TOKEN,
    "the scheme Token": f"Token {TOKEN}",
    "the scheme Basic": "Basic YWRhOmFkYQ==",
    "the word null for a token": "Bearer null",
    "the word undefined for a token": "Bearer undefined",
    "an unsigned JWT": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.",
    "5,000 characters of token": "Bearer " + "a" * 5000,
    "an SQL injection for a token": "Bearer ' OR '1'='1",
}
_DOUBTFUL = {
    "bearer in lower case": (f"bearer {TOKEN}",),
    "BEARER in capitals": (f"BEARER {TOKEN}",),
    "two spaces before the token": (f"Bearer  {TOKEN}",),
    "a tab before the token": (f"Bearer\t{TOKEN}",),
    "two headers with one token": (f"Bearer {TOKEN}", f"Bearer {TOKEN}"),
    "two headers with two tokens": (f"Bearer {TOKEN}", "Bearer understudy-unknown"),
    "two tokens in one header": (f"Bearer {TOKEN}, Bearer {TOKEN}",),
    "a colon behind Bearer": (f"Bearer: {TOKEN}",),
}

Apply = Callable[[Draft], Draft]


def sending(*texts: str) -> Apply:
    """Returns what sends these Authorization headers and no other."""
    return lambda draft: draft.with_headers(HEADER, *texts)


def turns(scene: OperationContext, *, is_required: bool) -> Iterator[Mutation]:
    """Yields the oddities that concern any bearer token.

    Args:
        scene: The operation.
        is_required: Whether it asks for a token; otherwise it knows one, and does without.
    """
    security = f"{scene.operation.pointer}/security"

    def bad(what: str, apply: Apply, because: str = BEARER) -> Mutation:
        said = f"Authorization: {what}"
        turn = scene.refused(SLOT, "authorization", said, "bearer-header", because, apply)
        return turn._replace(statuses=REFUSED)

    def doubtful(what: str, *texts: str) -> Mutation:
        said = f"Authorization: {what}"
        reason = "RFC 9110, 11.4"
        return scene.left_open(
            SLOT, "authorization", said, "bearer-header", reason, sending(*texts)
        )

    if is_required:
        yield bad("none at all", sending(), security)
        yield bad("the token in the query instead", _in_query)
        yield bad("the token in a cookie instead", _in_cookie)
    else:
        yield scene.accepted_turn(
            SLOT, "authorization", "Authorization: none at all", "security", security, sending()
        )._replace(is_option=True)
        yield scene.accepted_turn(
            SLOT,
            "authorization",
            "Authorization: a token",
            "security",
            security,
            sending(f"Bearer {TOKEN}"),
        )._replace(is_option=True)
    unknown = security if is_required else rule("invalid-token-refused")
    for what, text in _UNKNOWN.items():
        yield bad(what, sending(text), unknown)
    for what, texts in _DOUBTFUL.items():
        yield doubtful(what, *texts)


def draws(scene: OperationContext) -> Iterator[Generator]:
    """Yields what makes up tokens that nobody issued, without end."""

    def token(chance: Random) -> Mutation:
        alphabet = string.ascii_letters + string.digits + "-._~+/"
        text = "u-" + "".join(chance.choices(alphabet, k=chance.randrange(4, 60)))
        turn = scene.refused(
            SLOT,
            "authorization",
            f"Authorization: the unknown token {text}",
            "bearer-header",
            f"{scene.operation.pointer}/security",
            sending(f"Bearer {text}"),
        )
        return turn._replace(statuses=REFUSED)

    yield token


def _in_query(draft: Draft) -> Draft:
    draft = sending()(draft)
    return draft._replace(query=(*draft.query, ("access_token", encoded_variable("token"))))


def _in_cookie(draft: Draft) -> Draft:
    return sending()(draft).with_headers("Cookie", f"access_token={TOKEN}")
