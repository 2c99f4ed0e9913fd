"""Mutations of any HTTP request: its method, headers, content type, path, and unknown parameters."""

import string
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from random import Random  # noqa: TID251 - seeded by the caller
from typing import Any

from understudy.cases import drafts, texts
from understudy.cases.drafts import Draft, DraftChange
from understudy.cases.model import CaseKind, encoded_variable, variable
from understudy.cases.mutations import REFUSED, Generator, Mutation, OperationContext, rule
from understudy.openapi.media_types import JSON, MULTIPART, URLENCODED, is_json
from understudy.openapi.parameter_writing import encoded

_ACCEPTED_HEADERS = {
    "an unknown header": ("X-Understudy-Extra", "1"),
    "a language preference": ("Accept-Language", "tlh;q=0.9, *;q=0.1"),
    "a shell's function, as attackers send it": ("User-Agent", "() { :; }; understudy"),
    "unknown cookies, badly written": ("Cookie", 'a="b; c=; =d; e'),
    "null, as a page in a sandbox sends it": ("Origin", "null"),
    "a cache that wants nothing old": ("Cache-Control", "no-cache, no-store, max-age=0"),
    "any answer will do": ("Accept", "*/*"),
    "any answer will do, at low quality": ("Accept", "application/x-none, */*;q=0.001"),
}
_LEFT_OPEN_HEADERS = {
    "DELETE, which is not the method": ("X-HTTP-Method-Override", "DELETE"),
    "a method that there is not": ("X-HTTP-Method-Override", "BREW"),
    "only an unknown media type": ("Accept", "application/x-understudy"),
    "nothing but punctuation": ("Accept", ";,;/,*"),
    "the first byte alone": ("Range", "bytes=0-0"),
    "only if there is nothing yet": ("If-None-Match", "*"),
    "as if a proxy had another name": ("X-Forwarded-Host", "example.org"),
    "as if a proxy had received another path": ("X-Original-URL", "/admin"),
    "8,000 bytes": ("X-Understudy-Long", "a" * 8000),
}
_OTHER_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_OPEN_METHODS = ("HEAD", "OPTIONS")

_HTTP = "RFC 9110"


def mutations(context: OperationContext, declared: frozenset[str]) -> Iterator[Mutation]:
    """Yields the mutations that any HTTP request allows.

    Args:
        context: The operation context.
        declared: Methods that the document declares for the path.
    """
    yield from _methods(context, declared)
    yield from _headers(context)
    yield from _paths(context)
    for what, name, text in (
        ("from an official client", "source", "app"),
        ("that is empty", "understudy", ""),
        ("with an index", "extra%5B0%5D", "1"),
        ("without an equals sign", "understudy", None),
        ("with a time, as clients get past caches", "_", "1773480413"),
        ("named __proto__, which is an attack on JavaScript", "__proto__%5Badmin%5D", "true"),
        ("without a name", "", "1"),
    ):
        yield _unknown_query(context, f"an unknown parameter {what}", name, text)


def generators(context: OperationContext) -> Iterator[Generator]:
    """Yields generators of unknown parameters and headers."""

    def parameter(chance: Random) -> Mutation:
        name = "u_" + "".join(chance.choices(string.ascii_lowercase, k=6))
        text = texts.drawn(chance, 30)
        return _unknown_query(
            context, f"an unknown parameter {name}: {texts.spelled(text)}", name, encoded(text)
        )

    def header(chance: Random) -> Mutation:
        name = "X-U-" + "".join(chance.choices(string.ascii_letters, k=6))
        text = "".join(chance.choices(string.ascii_letters + string.punctuation, k=20))
        what = f"the unknown header {name}: letters and punctuation"
        return context.on("header *", "header", "header", f"{_HTTP}, 5.1").accepted(
            what, drafts.header(name, text)
        )

    yield parameter
    yield header


def content_types(context: OperationContext, media_type: str) -> Iterator[Mutation]:
    """Yields the mutations of the Content-Type of a body."""
    pointer = f"{context.operation.pointer}/requestBody/content"
    body = context.operation.request_body
    declared = () if body is None else tuple(body.content)
    same = {"in capitals": media_type.upper(), "with a space before the option": None}
    if is_json(media_type):
        same["with a space before the option"] = f"{media_type} ; charset=utf-8"
        same["with its charset"] = f"{media_type}; charset=UTF-8"
        same["with its charset in quotes"] = f'{media_type};charset="utf-8"'
    for what, text in same.items():
        if text is not None and media_type != MULTIPART:
            yield _content_type(context, f"Content-Type {what}", text, "valid", f"{_HTTP}, 8.3.1")
    for text in (
        "text/plain",
        "application/xml",
        "image/png",
        "application/octet-stream",
        URLENCODED,
        JSON,
    ):
        is_declared = any(fnmatchcase(text, name) for name in declared)
        if not is_declared and not (media_type == MULTIPART and text == URLENCODED):
            # clients such as curl -d send JSON with this type by default, and servers may accept it
            kind: CaseKind = "open" if text == URLENCODED and is_json(media_type) else "invalid"
            what = f"Content-Type {text}, which is not declared"
            yield _content_type(context, what, text, kind, pointer)
    left_open = [
        "",
        f"{media_type}; charset=iso-8859-1",
        f"{media_type}, text/plain",
        "json",
        "*/*",
    ]
    for text in left_open:
        yield _content_type(context, f"Content-Type {text or 'empty'}", text, "open", pointer)
    yield _content_type(context, "no Content-Type", None, "open", f"{_HTTP}, 8.3")


def _content_type(
    context: OperationContext, what: str, text: str | None, kind: CaseKind, because: str
) -> Mutation:
    return context.on("content type", "content-type", "content-type", because).made(
        kind, what, drafts.content_type(text)
    )


def _methods(context: OperationContext, declared: frozenset[str]) -> Iterator[Mutation]:
    pointer = context.operation.pointer.rpartition("/")[0]
    for method in (*_OTHER_METHODS, *_OPEN_METHODS):
        if method in declared:
            continue
        is_open = method in _OPEN_METHODS
        mutation = context.on("method", "method", "method", pointer).made(
            "open" if is_open else "invalid",
            f"{method} instead of {context.operation.method}",
            drafts.bodiless(method) if is_open else drafts.method(method),
        )
        statuses = mutation.statuses if is_open else REFUSED  # 4XX, even if the part is redirected
        yield mutation._replace(is_alone=True, statuses=statuses, location="")


def _headers(context: OperationContext) -> Iterator[Mutation]:
    declared = {p.name.lower() for p in context.operation.parameters if p.location == "header"}
    declared |= {name.lower() for name, _ in context.plain.headers}
    kinds: tuple[tuple[Mapping[str, tuple[str, str]], CaseKind], ...] = (
        (_ACCEPTED_HEADERS, "valid"),
        (_LEFT_OPEN_HEADERS, "open"),
    )
    for headers, kind in kinds:
        for what, (name, text) in headers.items():
            if name.lower() not in declared:
                yield context.on(f"header {name}", "header", "header", f"{_HTTP}, 5.1").made(
                    kind, f"header {name}: {what}", drafts.header(name, text)
                )
    if context.operation.request_body is None and context.operation.method == "GET":
        yield context.on(
            "content type", "content-type", "content-type", f"{_HTTP}, 9.3.1"
        ).accepted("Content-Type application/json, and no body", drafts.content_type(JSON))
        yield context.on("body", "body", "body", f"{_HTTP}, 9.3.1").left_open(
            "a body with GET", lambda draft: draft._replace(raw=b"{}", content_type=JSON)
        )


def _paths(context: OperationContext) -> Iterator[Mutation]:
    def path(what: str, change: Any) -> Mutation:
        def apply(draft: Draft) -> Draft:
            return draft._replace(template=change(draft.template))

        reason = "RFC 3986, 6: which paths are equivalent is the server's"
        mutation = context.on("path", "path", "path", reason).left_open(f"path: {what}", apply)
        return mutation._replace(is_alone=True)

    yield path("a slash at the end", lambda text: f"{text}/")
    yield path("two slashes at the start", lambda text: f"/{text}")
    yield path("a dot segment", lambda text: f"/.{text}")
    yield path("in capitals", _outside_braces)
    yield path("a session behind a semicolon", lambda text: f"{text};jsessionid=1")
    yield path("the suffix .json", lambda text: f"{text}.json")


def _outside_braces(template: str) -> str:
    pieces = template.split("{")
    head, *rest = pieces
    rebuilt = [
        "{" + name + "}" + after.upper() for name, _, after in (p.partition("}") for p in rest)
    ]
    return head.upper() + "".join(rebuilt)


def _unknown_query(context: OperationContext, what: str, name: str, text: str | None) -> Mutation:
    semantics = context.semantics.get("query *")
    kind: CaseKind = "open" if semantics is None else "valid"
    because = context.operation.pointer if semantics is None else semantics.because
    source = because.removeprefix("rule ")
    apply = drafts.more_query(name, text)
    return context.on("query *", "additional", source, because).made(kind, f"query: {what}", apply)


BEARER_PART = "header Authorization"
BEARER_HEADER = "Authorization"
UNAUTHORIZED = ("401",)
BEARER_TOKEN = variable("TOKEN")
BEARER = rule("bearer-header")

_UNKNOWN = {
    "a token that was never issued": "Bearer understudy-unknown",
    "the token with a letter behind it": f"Bearer {BEARER_TOKEN}x",
    "the token in quotes": f'Bearer "{BEARER_TOKEN}"',
    "the word Bearer alone": "Bearer",
    "the token without the word Bearer": BEARER_TOKEN,
    "the scheme Token": f"Token {BEARER_TOKEN}",
    "the scheme Basic": "Basic YWRhOmFkYQ==",
    "the word null for a token": "Bearer null",
    "the word undefined for a token": "Bearer undefined",
    "an unsigned JWT": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.",
    "5,000 characters of token": "Bearer " + "a" * 5000,
    "an SQL injection for a token": "Bearer ' OR '1'='1",
}
_LEFT_OPEN = {
    "bearer in lower case": (f"bearer {BEARER_TOKEN}",),
    "BEARER in capitals": (f"BEARER {BEARER_TOKEN}",),
    "two spaces before the token": (f"Bearer  {BEARER_TOKEN}",),
    "a tab before the token": (f"Bearer\t{BEARER_TOKEN}",),
    "two headers with one token": (f"Bearer {BEARER_TOKEN}", f"Bearer {BEARER_TOKEN}"),
    "two headers with two tokens": (f"Bearer {BEARER_TOKEN}", "Bearer understudy-unknown"),
    "two tokens in one header": (f"Bearer {BEARER_TOKEN}, Bearer {BEARER_TOKEN}",),
    "a colon behind Bearer": (f"Bearer: {BEARER_TOKEN}",),
}


def with_authorization(*texts: str) -> DraftChange:
    """Returns a change that sends exactly these Authorization headers."""
    return lambda draft: draft.with_headers(BEARER_HEADER, *texts)


def bearer_mutations(context: OperationContext, *, is_required: bool) -> Iterator[Mutation]:
    """Yields the mutations of the credentials of an operation with a bearer token.

    Args:
        context: The operation context.
        is_required: Whether the operation requires a token; otherwise it is optional.
    """
    security = f"{context.operation.pointer}/security"

    def refused(what: str, apply: DraftChange, because: str = BEARER) -> Mutation:
        on = context.on(BEARER_PART, "authorization", "bearer-header", because)
        return on.refused(f"Authorization: {what}", apply)._replace(statuses=UNAUTHORIZED)

    if is_required:
        yield refused("none at all", with_authorization(), security)
        yield refused("the token in the query instead", _in_query)
        yield refused("the token in a cookie instead", _in_cookie)
    else:
        on = context.on(BEARER_PART, "authorization", "security", security)
        ways = {
            "none at all": with_authorization(),
            "a token": with_authorization(f"Bearer {BEARER_TOKEN}"),
        }
        for what, apply in ways.items():
            yield on.accepted(f"Authorization: {what}", apply)._replace(is_option=True)
    unknown = security if is_required else rule("invalid-token-refused")
    for what, text in _UNKNOWN.items():
        yield refused(what, with_authorization(text), unknown)
    on = context.on(BEARER_PART, "authorization", "bearer-header", "RFC 9110, 11.4")
    for what, lines in _LEFT_OPEN.items():
        yield on.left_open(f"Authorization: {what}", with_authorization(*lines))


def bearer_generators(context: OperationContext) -> Iterator[Generator]:
    """Yields a generator of random unknown tokens."""

    def token(chance: Random) -> Mutation:
        alphabet = string.ascii_letters + string.digits + "-._~+/"
        text = "u-" + "".join(chance.choices(alphabet, k=chance.randrange(4, 60)))
        what, security = f"the unknown token {text}", f"{context.operation.pointer}/security"
        on = context.on(BEARER_PART, "authorization", "bearer-header", security)
        mutation = on.refused(f"Authorization: {what}", with_authorization(f"Bearer {text}"))
        return mutation._replace(statuses=UNAUTHORIZED)

    yield token


def _in_query(draft: Draft) -> Draft:
    draft = with_authorization()(draft)
    return draft._replace(query=(*draft.query, ("access_token", encoded_variable("TOKEN"))))


def _in_cookie(draft: Draft) -> Draft:
    return with_authorization()(draft).with_headers("Cookie", f"access_token={BEARER_TOKEN}")
