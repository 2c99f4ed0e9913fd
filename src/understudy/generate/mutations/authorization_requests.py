"""Mutations of authorization requests: redirect URIs, response types, and how scopes are written."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl

from understudy.generate.drafts import Draft
from understudy.generate.mutations import draft_changes
from understudy.generate.mutations.draft_changes import DraftChange
from understudy.generate.mutations.mutation import Mutation, rule
from understudy.generate.mutations.operation_context import (
    ExpectedRefusal,
    OperationContext,
    ValueSemantics,
)
from understudy.generate.test_data import TestData
from understudy.interface.scopes import AUTH, MANAGE_PROFILE, READ_PROFILE
from understudy.openapi.parameter_writing import encoded

_BY_REDIRECT = ExpectedRefusal(("302", "303"), "with error")
"""Rule authorize-error-redirect."""

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
"""The challenge of RFC 7636, appendix B."""


def with_known_values(data: TestData, draft: Draft) -> Draft:
    """Returns the plain authorization request."""
    query = {
        "client_id": data.client_id,
        "redirect_uri": data.redirect_uri,
        "response_type": "code",
        "scope[0]": AUTH,
        "scope[1]": READ_PROFILE,
        "state": "af0ifjsldkj",
    }
    return draft._replace(query=tuple((encoded(n), encoded(text)) for n, text in query.items()))


def context(data: TestData) -> dict[str, Any]:
    """Returns what the interface says of the parameters, as fields of ``OperationContext``."""
    redirected = ("response_type", "scope", "state", "code_challenge", "code_challenge_method")
    client = ValueSemantics(
        "invalid", rule("authorize-client-known"), known=frozenset({data.client_id})
    )
    address = frozenset({data.redirect_uri})
    return {
        "semantics": {
            "query client_id": client,
            "query redirect_uri": ValueSemantics(
                "invalid", rule("redirect-uri-registered"), known=address
            ),
            "query *": ValueSemantics("valid", rule("authorize-unknown-parameters-ignored")),
        },
        "refusals": {f"query {name}": _BY_REDIRECT for name in redirected},
        "required_parts": frozenset(
            {
                *("query client_id", "query redirect_uri", "query response_type"),
                "query code_challenge",  # an empty one would silently turn the protection off
            }
        ),
        "handled_elsewhere": frozenset({"query scope", "query code_challenge_method"}),
        "empty_value_rule": "authorize-empty-parameter",
        "repetition_rule": "authorize-repeated-parameter",
    }


def mutations_of(data: TestData) -> Callable[[OperationContext], Iterator[Mutation]]:
    """Returns the function that yields the mutations of authorization requests."""

    def mutations(context: OperationContext) -> Iterator[Mutation]:
        yield from _addresses(context, data.redirect_uri)
        yield from _flows(context)
        yield from _scopes(context)
        yield from _challenges(context)
        if data.denial:
            yield from _denials(context, data.denial)

    return mutations


def _denials(context: OperationContext, denial: str) -> Iterator[Mutation]:
    """Yields requests that a person denies, in both flows, with a state and without."""
    source = "denial-error-parameter"
    for what, pairs in {
        "": (),
        ", in the token flow": (("response_type", ("token",)),),
        ", without a state": (("state", ()),),
        ", with an odd state": (("state", (encoded("a b&c=d#e+\u00e9"),)),),
    }.items():

        def apply(draft: Draft, pairs: tuple[Any, ...] = pairs) -> Draft:
            for name, values in pairs:
                draft = draft.with_query(name, *values)
            return draft._replace(query=(*draft.query, *_pairs(denial)))

        description = f"the person denies access{what}"
        mutation = context.accepted("query *", "consent", description, source, rule(source), apply)
        yield mutation._replace(
            statuses=_BY_REDIRECT.statuses, location="with error", is_alone=True
        )


def _pairs(query: str) -> tuple[tuple[str, str], ...]:
    return tuple((encoded(name), encoded(text)) for name, text in parse_qsl(query))


def _addresses(context: OperationContext, uri: str) -> Iterator[Mutation]:
    scheme, _, rest = uri.partition("://")
    host, _, path = rest.partition("/")
    for what, text in {
        "with a slash at the end": f"{uri}/",
        "with a query": f"{uri}?a=b",
        "with a fragment": f"{uri}#a",
        "in capitals": uri.upper(),
        "with the host in capitals" if host.upper() != host else "with a dot behind the host": (
            f"{scheme}://{host.upper()}/{path}"
            if host.upper() != host
            else f"{scheme}://{host}./{path}"
        ),
        "with another scheme": f"{'http' if scheme == 'https' else 'https'}://{rest}",
        "with another port": f"{scheme}://{host.partition(':')[0]}:9/{path}",
        "with two slashes": f"{scheme}://{host}//{path}",
        "with a dot segment": f"{scheme}://{host}/x/../{path}",
        "with a user before the host": f"{scheme}://user@{host}/{path}",
        "with the host as a user of another": f"{scheme}://{host}@evil.example/{path}",
        "with another domain behind the host": f"{scheme}://{host}.evil.example/{path}",
        "with a backslash": f"{scheme}://evil.example\\@{host}/{path}",
        "with a space behind it": f"{uri} ",
        "with a NUL behind it": f"{uri}\x00",
        "with a line end and a header": f"{uri}\r\nX-Injected: 1",
        "percent-encoded twice": encoded(uri),
        "cut by a letter": uri[:-1],
        "elsewhere": "https://evil.example/callback",
        "without a scheme": f"//{rest}",
        "as a path alone": f"/{path}",
        "as a javascript: address": "javascript:alert(1)",
        "as a data: address": "data:text/html,<script>alert(1)</script>",
        "as an app's own scheme": "com.example.app:/callback",
        "as localhost": f"{scheme}://localhost:5000/{path}",
    }.items():
        description = (
            f"redirect_uri: the registered one {what}"
            if not what.startswith("as ")
            else f"redirect_uri: {what}"
        )
        yield context.refused(
            "query redirect_uri",
            "redirect",
            description,
            "redirect-uri-exact",
            rule("redirect-uri-exact"),
            draft_changes.query("redirect_uri", encoded(text)),
        )


def _flows(context: OperationContext) -> Iterator[Mutation]:
    for text in ("code token", "id_token", "none", "Code", "code,token", "code ", "device"):
        yield context.refused(
            "query response_type",
            "grant",
            f"response_type: {text!r}",
            "response-type",
            rule("response-type"),
            draft_changes.query("response_type", encoded(text)),
        )
    for name, text in {
        "nonce": "n-0S6_WzA2Mj",
        "prompt": "none",
        "access_type": "offline",
        "display": "popup",
        "login_hint": "ada@example.com",
        "response_mode": "form_post",
        "client_secret": "guessed",
    }.items():
        yield context.accepted(
            "query *",
            "grant",
            f"query: the parameter {name} of other servers",
            "authorize-unknown-parameters-ignored",
            rule("authorize-unknown-parameters-ignored"),
            draft_changes.more_query(name, text),
        )


def _challenges(context: OperationContext) -> Iterator[Mutation]:
    part, source = "query code_challenge_method", "pkce-honoured"
    name = "code_challenge_method"

    def challenged(method: str, challenge: str) -> DraftChange:
        def apply(draft: Draft) -> Draft:
            draft = draft.with_query(name, encoded(method))
            return draft.with_query("code_challenge", challenge) if challenge else draft

        return apply

    for method in ("S256", "plain"):
        description = f"{name}: {method}, with a challenge"
        apply = challenged(method, CHALLENGE)
        option = context.accepted(part, "option", description, source, rule(source), apply)
        yield option._replace(is_option=True)
    for method, challenge in {"S256": "", "plain": "", "s256": CHALLENGE, "MD5": CHALLENGE}.items():
        end = "with a challenge" if challenge else "without a challenge"
        description, apply = f"{name}: {method}, {end}", challenged(method, challenge)
        yield context.refused(part, "option", description, source, rule(source), apply)


def _scopes(context: OperationContext) -> Iterator[Mutation]:
    auth, read, manage = AUTH, READ_PROFILE, MANAGE_PROFILE

    def scoped(kind: str, what: str, source: str, *pairs: tuple[str, str]) -> Mutation:
        made = {"valid": context.accepted, "invalid": context.refused}.get(kind, context.left_open)
        mutation = made(
            "query scope", "scope", f"scope: {what}", source, rule(source), _with_scopes(*pairs)
        )
        return mutation._replace(is_option=kind == "valid")

    yield scoped("valid", "scope[0] alone", "scope-indexed-array", ("scope[0]", auth))
    yield scoped(
        "valid",
        "all three",
        "scope-indexed-array",
        ("scope[0]", auth),
        ("scope[1]", read),
        ("scope[2]", manage),
    )
    yield scoped("valid", "scope[1] without scope[0]", "scope-any-index", ("scope[1]", auth))
    yield scoped(
        "valid", "indexes with a gap", "scope-any-index", ("scope[0]", auth), ("scope[7]", read)
    )
    yield scoped(
        "valid", "indexes backwards", "scope-any-index", ("scope[1]", read), ("scope[0]", auth)
    )
    yield scoped("valid", "joined by a space", "scope-space-joined", ("scope", f"{auth} {read}"))
    yield scoped("valid", "one name without an index", "scope-space-joined", ("scope", auth))
    yield scoped("invalid", "none", "scope-at-least-one")
    yield scoped("invalid", "an empty one", "scope-at-least-one", ("scope[0]", ""))
    yield scoped("invalid", "auth left out", "scope-auth-needed", ("scope[0]", read))
    yield scoped(
        "invalid", "one that there is not", "scope-known", ("scope[0]", auth), ("scope[1]", "admin")
    )
    yield scoped("invalid", "auth in capitals", "scope-known", ("scope[0]", "AUTH"))
    yield scoped("invalid", "joined by a comma", "scope-known", ("scope", f"{auth},{read}"))
    yield scoped("invalid", "a wildcard", "scope-known", ("scope[0]", "*"))
    yield scoped(
        "invalid",
        "one index twice",
        "authorize-repeated-parameter",
        ("scope[0]", auth),
        ("scope[0]", read),
    )
    for what, name in {
        "empty brackets": "scope[]",
        "an index of letters": "scope[a]",
        "an index below zero": "scope[-1]",
        "an index with a leading zero": "scope[00]",
        "an index of nine digits": "scope[999999999]",
        "two indexes": "scope[0][0]",
        "a bracket that is not closed": "scope[0",
        "a dot instead of brackets": "scope.0",
        "the name in capitals": "SCOPE[0]",
    }.items():
        yield scoped("open", what, "scope-indexed-array", (name, auth))
    yield scoped(
        "open",
        "one scope under two indexes",
        "scope-any-index",
        ("scope[0]", auth),
        ("scope[1]", auth),
    )
    yield scoped(
        "open", "both forms at once", "scope-space-joined", ("scope", auth), ("scope[1]", read)
    )


def _with_scopes(*pairs: tuple[str, str]) -> DraftChange:
    def apply(draft: Draft) -> Draft:
        kept = tuple(pair for pair in draft.query if not pair[0].startswith("scope"))
        return draft._replace(query=(*kept, *((encoded(n), encoded(text)) for n, text in pairs)))

    return apply
