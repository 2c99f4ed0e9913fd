"""Mutations of the Authorization header, for operations that take a bearer token."""

import string
from collections.abc import Iterator
from random import Random  # noqa: TID251 - seeded by whoever asks

from understudy.generate.cases import encoded_variable, variable
from understudy.generate.drafts import Draft
from understudy.generate.mutations.draft_changes import DraftChange
from understudy.generate.mutations.mutation import Generator, Mutation, rule
from understudy.generate.mutations.operation_context import OperationContext

PART = "header Authorization"
HEADER = "Authorization"
REFUSED = ("401",)
TOKEN = variable("TOKEN")
BEARER = rule("bearer-header")

_UNKNOWN = {
    "a token that was never issued": "Bearer understudy-unknown",
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
_LEFT_OPEN = {
    "bearer in lower case": (f"bearer {TOKEN}",),
    "BEARER in capitals": (f"BEARER {TOKEN}",),
    "two spaces before the token": (f"Bearer  {TOKEN}",),
    "a tab before the token": (f"Bearer\t{TOKEN}",),
    "two headers with one token": (f"Bearer {TOKEN}", f"Bearer {TOKEN}"),
    "two headers with two tokens": (f"Bearer {TOKEN}", "Bearer understudy-unknown"),
    "two tokens in one header": (f"Bearer {TOKEN}, Bearer {TOKEN}",),
    "a colon behind Bearer": (f"Bearer: {TOKEN}",),
}


def sending(*texts: str) -> DraftChange:
    """Returns a change that sends exactly these Authorization headers."""
    return lambda draft: draft.with_headers(HEADER, *texts)


def mutations(context: OperationContext, *, is_required: bool) -> Iterator[Mutation]:
    """Yields the mutations that apply to any bearer token.

    Args:
        context: The operation context.
        is_required: Whether the operation requires a token; otherwise the token is optional.
    """
    security = f"{context.operation.pointer}/security"

    def refused(what: str, apply: DraftChange, because: str = BEARER) -> Mutation:
        description = f"Authorization: {what}"
        mutation = context.refused(
            PART, "authorization", description, "bearer-header", because, apply
        )
        return mutation._replace(statuses=REFUSED)

    def left_open(what: str, *texts: str) -> Mutation:
        description = f"Authorization: {what}"
        because = "RFC 9110, 11.4"
        return context.left_open(
            PART, "authorization", description, "bearer-header", because, sending(*texts)
        )

    if is_required:
        yield refused("none at all", sending(), security)
        yield refused("the token in the query instead", _in_query)
        yield refused("the token in a cookie instead", _in_cookie)
    else:
        yield context.accepted(
            PART, "authorization", "Authorization: none at all", "security", security, sending()
        )._replace(is_option=True)
        yield context.accepted(
            PART,
            "authorization",
            "Authorization: a token",
            "security",
            security,
            sending(f"Bearer {TOKEN}"),
        )._replace(is_option=True)
    unknown = security if is_required else rule("invalid-token-refused")
    for what, text in _UNKNOWN.items():
        yield refused(what, sending(text), unknown)
    for what, texts in _LEFT_OPEN.items():
        yield left_open(what, *texts)


def generators(context: OperationContext) -> Iterator[Generator]:
    """Yields a generator of tokens that were never issued."""

    def token(chance: Random) -> Mutation:
        alphabet = string.ascii_letters + string.digits + "-._~+/"
        text = "u-" + "".join(chance.choices(alphabet, k=chance.randrange(4, 60)))
        mutation = context.refused(
            PART,
            "authorization",
            f"Authorization: the unknown token {text}",
            "bearer-header",
            f"{context.operation.pointer}/security",
            sending(f"Bearer {text}"),
        )
        return mutation._replace(statuses=REFUSED)

    yield token


def _in_query(draft: Draft) -> Draft:
    draft = sending()(draft)
    return draft._replace(query=(*draft.query, ("access_token", encoded_variable("TOKEN"))))


def _in_cookie(draft: Draft) -> Draft:
    return sending()(draft).with_headers("Cookie", f"access_token={TOKEN}")
