"""Mutations of authorization requests, token requests and token validation, from the prose rules."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from understudy.cases import drafts
from understudy.cases.drafts import Draft, DraftChange
from understudy.cases.model import CaseKind, CaseRequest, Location, encoded_variable, variable
from understudy.cases.mutations import (
    ExpectedRefusal,
    InterfaceProse,
    Mutation,
    OperationContext,
    ValueSemantics,
    kind_of,
    rule,
)
from understudy.cases.test_data import TestData
from understudy.interface.operations import AUTHORIZE, TOKEN, TOKEN_INFO
from understudy.interface.scopes import AUTH, MANAGE_PROFILE, READ_PROFILE, SCOPES
from understudy.openapi.parameter_writing import encoded

_BY_REDIRECT = ExpectedRefusal(("302", "303"), "with error")
"""Refusal by a redirect that carries the error (rule authorize-error-redirect)."""

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
"""A valid code challenge: the example of RFC 7636, appendix B."""


def with_known_values(data: TestData, draft: Draft) -> Draft:
    """Returns the plain authorization request."""
    return draft._replace(query=_query(data, **{"scope[1]": READ_PROFILE, "state": "af0ifjsldkj"}))


def _query(data: TestData, **more: str) -> tuple[tuple[str, str], ...]:
    known = {"client_id": data.client_id, "redirect_uri": data.redirect_uri}
    named = {**known, "response_type": "code", "scope[0]": AUTH, **more}
    return tuple((encoded(name), encoded(text)) for name, text in named.items())


def authorize_context(data: TestData) -> dict[str, Any]:
    """Returns the prose rules on the parameters, as fields of ``OperationContext``."""
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
                "query code_challenge",  # accepting an empty one would silently disable PKCE
            }
        ),
        "handled_elsewhere": frozenset({"query scope", "query code_challenge_method"}),
        "empty_value_rule": "authorize-empty-parameter",
        "repetition_rule": "authorize-repeated-parameter",
    }


def authorizations(data: TestData, context: OperationContext) -> Iterator[Mutation]:
    """Yields the mutations of authorization requests."""
    yield from _addresses(context, data.redirect_uri)
    yield from _flows(context)
    yield from _scopes(context)
    yield from _challenges(context)
    if data.denial:
        yield from _denials(context, data.denial)


def _denials(context: OperationContext, denial: str) -> Iterator[Mutation]:
    """Yields authorization requests that the person denies, in both flows, with and without state."""
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
            decision = ((encoded(name), encoded(text)) for name, text in parse_qsl(denial))
            return draft._replace(query=(*draft.query, *decision))

        description = f"the person denies access{what}"
        mutation = context.on("query *", "consent", source).accepted(description, apply)
        yield mutation._replace(
            statuses=_BY_REDIRECT.statuses, location="with error", is_alone=True
        )


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
        yield context.on("query redirect_uri", "redirect", "redirect-uri-exact").refused(
            description, drafts.query("redirect_uri", encoded(text))
        )


def _flows(context: OperationContext) -> Iterator[Mutation]:
    for text in ("code token", "id_token", "none", "Code", "code,token", "code ", "device"):
        yield context.on("query response_type", "grant", "response-type").refused(
            f"response_type: {text!r}", drafts.query("response_type", encoded(text))
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
        yield context.on("query *", "grant", "authorize-unknown-parameters-ignored").accepted(
            f"query: the parameter {name} of other servers", drafts.more_query(name, text)
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
        option = context.on(part, "option", source).accepted(description, apply)
        yield option._replace(is_option=True)
    for method, challenge in {"S256": "", "plain": "", "s256": CHALLENGE, "MD5": CHALLENGE}.items():
        end = "with a challenge" if challenge else "without a challenge"
        description, apply = f"{name}: {method}, {end}", challenged(method, challenge)
        yield context.on(part, "option", source).refused(description, apply)


_INDEXED, _ANY_INDEX, _JOINED = "scope-indexed-array", "scope-any-index", "scope-space-joined"
_KNOWN = "scope-known"


def _at(*scopes: str) -> tuple[tuple[str, str], ...]:
    """Returns scopes as parameters ``scope[0]``, ``scope[1]`` and so on."""
    return tuple((f"scope[{index}]", scope) for index, scope in enumerate(scopes))


_ZERO, _ONE = _at(AUTH, READ_PROFILE)

_SCOPES: tuple[tuple[CaseKind, str, str, tuple[tuple[str, str], ...]], ...] = (
    ("valid", "scope[0] alone", _INDEXED, _at(AUTH)),
    ("valid", "all three", _INDEXED, _at(AUTH, READ_PROFILE, MANAGE_PROFILE)),
    ("valid", "scope[1] without scope[0]", _ANY_INDEX, (("scope[1]", AUTH),)),
    ("valid", "indexes with a gap", _ANY_INDEX, (_ZERO, ("scope[7]", READ_PROFILE))),
    ("valid", "indexes backwards", _ANY_INDEX, (_ONE, _ZERO)),
    ("valid", "joined by a space", _JOINED, (("scope", f"{AUTH} {READ_PROFILE}"),)),
    ("valid", "one name without an index", _JOINED, (("scope", AUTH),)),
    ("invalid", "none", "scope-at-least-one", ()),
    ("invalid", "an empty one", "scope-at-least-one", _at("")),
    ("invalid", "auth left out", "scope-auth-needed", _at(READ_PROFILE)),
    ("invalid", "one that there is not", _KNOWN, _at(AUTH, "admin")),
    ("invalid", "auth in capitals", _KNOWN, _at("AUTH")),
    ("invalid", "joined by a comma", _KNOWN, (("scope", f"{AUTH},{READ_PROFILE}"),)),
    ("invalid", "a wildcard", _KNOWN, _at("*")),
    (
        "invalid",
        "one index twice",
        "authorize-repeated-parameter",
        (_ZERO, ("scope[0]", READ_PROFILE)),
    ),
    # forms that the interface does not describe
    ("open", "empty brackets", _INDEXED, (("scope[]", AUTH),)),
    ("open", "an index of letters", _INDEXED, (("scope[a]", AUTH),)),
    ("open", "an index below zero", _INDEXED, (("scope[-1]", AUTH),)),
    ("open", "an index with a leading zero", _INDEXED, (("scope[00]", AUTH),)),
    ("open", "an index of nine digits", _INDEXED, (("scope[999999999]", AUTH),)),
    ("open", "two indexes", _INDEXED, (("scope[0][0]", AUTH),)),
    ("open", "a bracket that is not closed", _INDEXED, (("scope[0", AUTH),)),
    ("open", "a dot instead of brackets", _INDEXED, (("scope.0", AUTH),)),
    ("open", "the name in capitals", _INDEXED, (("SCOPE[0]", AUTH),)),
    ("open", "one scope under two indexes", _ANY_INDEX, _at(AUTH, AUTH)),
    ("open", "both forms at once", _JOINED, (("scope", AUTH), _ONE)),
)
"""Outcome, description, rule, and the parameters by which the scopes are sent."""


def _scopes(context: OperationContext) -> Iterator[Mutation]:
    for kind, what, source, pairs in _SCOPES:
        on = context.on("query scope", "scope", source)
        mutation = on.made(kind, f"scope: {what}", _with_scopes(*pairs))
        yield mutation._replace(is_option=kind == "valid")


def _with_scopes(*pairs: tuple[str, str]) -> DraftChange:
    def apply(draft: Draft) -> Draft:
        kept = tuple(pair for pair in draft.query if not pair[0].startswith("scope"))
        return draft._replace(query=(*kept, *((encoded(n), encoded(text)) for n, text in pairs)))

    return apply


def password_grant(data: TestData, draft: Draft) -> Draft:
    """Returns a plain password grant, the only grant without an interactive step."""
    fields = {
        "grant_type": "password",
        "client_id": data.client_id,
        "client_secret": encoded_variable("CLIENT_SECRET"),
        "username": data.username,
        "password": encoded_variable("PASSWORD"),
    }
    return _form(fields, draft)


def _form(fields: Mapping[str, str], draft: Draft) -> Draft:
    return draft._replace(form=tuple((name, encoded(text)) for name, text in fields.items()))


def code_request(data: TestData) -> CaseRequest | None:
    """Returns an authorization request that is approved at once; None if only a person can approve."""
    if not data.approval:
        return None
    name, _, text = data.approval.partition("=")
    query = (*_query(data), (name, text))
    return CaseRequest("authorization", "GET", "/oauth2/authorize", query)


def token_context(data: TestData) -> dict[str, Any]:
    """Returns the prose rules on the form's fields, as fields of ``OperationContext``."""
    credentials = rule("token-client-credentials")
    name, email = frozenset({data.username}), frozenset({data.email})
    unused = ValueSemantics("open", rule("password-grant-owner-only"))
    scope = ValueSemantics("invalid", rule("scope-known"), known=frozenset({"", "   "}))
    return {
        "semantics": {
            "body grant_type": ValueSemantics(
                "invalid", rule("token-grant-type"), known=frozenset({"password"})
            ),
            "body client_id": ValueSemantics(
                "invalid", credentials, known=frozenset({data.client_id})
            ),
            "body client_secret": ValueSemantics("invalid", credentials),
            "body username": ValueSemantics(
                "invalid", rule("password-grant-owner-only"), known=name, unclear=email
            ),
            "body password": ValueSemantics("invalid", rule("password-grant-owner-only")),
            "body scope": scope,
            "body redirect_uri": unused,
            "body code": unused,
            "body code_verifier": unused,
        },
        "required_parts": frozenset(
            f"body {name}"
            for name in ("grant_type", "client_id", "client_secret", "username", "password")
        ),
        "empty_value_rule": "token-empty-field",
        "repetition_rule": "token-repeated-field",
    }


def grants(data: TestData, context: OperationContext) -> Iterator[Mutation]:
    """Yields the mutations of token requests."""
    yield from _grant_types(context)
    yield from _codes(context, data)
    yield from _client_credentials(context)
    on = context.on("body scope", "scope", "password-grant-scopes")
    for text in (AUTH, f"{AUTH} {READ_PROFILE}", " ".join(SCOPES)):
        granted = on.accepted(f"scope: {text}", drafts.form("scope", encoded(text)))
        yield granted._replace(is_option=True)


def _grant_types(context: OperationContext) -> Iterator[Mutation]:
    for text in (
        "refresh_token",
        "client_credentials",
        "implicit",
        "Password",
        "password ",
        "passwort",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:device_code",
    ):
        yield context.on("body grant_type", "grant", "token-grant-type").refused(
            f"grant_type: {text!r}", drafts.form("grant_type", encoded(text))
        )
    for name in ("grant_type", "client_id", "client_secret", "username", "password"):
        yield context.on(
            f"body {name}",
            "required",
            "token-empty-field",
            f"{context.operation.pointer}/requestBody",
        ).refused(f"{name} left out", drafts.form(name))


def _codes(context: OperationContext, data: TestData) -> Iterator[Mutation]:
    code, uri = {"code": encoded_variable("CODE")}, {"redirect_uri": data.redirect_uri}
    other = {"redirect_uri": f"{data.redirect_uri}/"}
    plain = {"grant_type": "authorization_code", "client_id": data.client_id}
    plain["client_secret"] = encoded_variable("CLIENT_SECRET")
    unequal = "code-redirect-uri-repeated"
    rows: tuple[tuple[str, str, dict[str, str]], ...] = (
        ("all that it takes", "code-exchange", code | uri),
        ("a code that was never given out", "code-exchange", {"code": "guessed", **uri}),
        ("no code", "code-exchange", uri),
        ("an empty code", "token-empty-field", {"code": "", **uri}),
        ("a code and no redirect_uri", unequal, code),
        ("a code and another redirect_uri", unequal, code | other),
        (
            "a verifier without a challenge before",
            "pkce-honoured",
            {**code, **uri, "code_verifier": "v" * 43},
        ),
    )
    for number, (what, source, fields) in enumerate(rows):
        mutation = context.on("body", "grant", source).made(
            kind_of(number == 0), f"code grant: {what}", partial(_form, plain | fields)
        )
        yield mutation._replace(is_alone=code["code"] in fields.values())


def _client_credentials(context: OperationContext) -> Iterator[Mutation]:
    def basic(draft: Draft) -> Draft:
        draft = draft.with_form("client_id").with_form("client_secret")
        return draft.with_headers("Authorization", "Basic c2VydmVyLWFwcDpndWVzc2Vk")

    yield context.on("body client_secret", "authorization", "token-credentials-in-form").refused(
        "client credentials as HTTP Basic", basic
    )
    yield context.on("query client_secret", "authorization", "token-secrets-not-in-query").refused(
        "the client secret in the query as well",
        drafts.more_query("client_secret", encoded_variable("CLIENT_SECRET")),
    )
    for name in ("client_secret", "password"):
        text = encoded_variable(name.upper())
        source = (
            "token-client-credentials" if name == "client_secret" else "password-grant-owner-only"
        )
        for what, value in (
            ("with a space behind it", f"{text}%20"),
            ("with a letter behind it", f"{text}x"),
        ):
            yield context.on(f"body {name}", "authorization", source).refused(
                f"{name}: the right one {what}", drafts.form(name, value)
            )


def plain_validation(data: TestData, draft: Draft) -> Draft:
    """Returns a plain token validation."""
    query = (("client_id", data.client_id), ("token", encoded_variable("CLIENT_TOKEN")))
    return draft._replace(query=query)


def token_info_context(data: TestData) -> dict[str, Any]:
    """Returns the prose rules on the parameters, as fields of ``OperationContext``."""
    clients = frozenset({data.client_id})
    foreign = rule("token-info-foreign")
    return {
        "semantics": {
            "query client_id": ValueSemantics("invalid", foreign, known=clients),
            "query token": ValueSemantics("invalid", rule("token-info-unspecific")),
        },
    }


def validations(_data: TestData, context: OperationContext) -> Iterator[Mutation]:
    """Yields the mutations of token validation."""
    for what, text in {
        "another application's": encoded_variable("TOKEN"),
        "an expired one": encoded_variable("EXPIRED_TOKEN"),
        "an API key": encoded_variable("API_KEY"),
        "with Bearer before it": f"Bearer%20{encoded_variable('CLIENT_TOKEN')}",
        "with a letter behind it": f"{encoded_variable('CLIENT_TOKEN')}x",
    }.items():
        yield context.on("query token", "authorization", "token-info-foreign").refused(
            f"token: {what}", drafts.query("token", text)
        )
    yield context.on("query token", "authorization", "token-info").refused(
        "the token in the Authorization header instead",
        lambda draft: draft.with_query("token").with_headers(
            "Authorization", f"Bearer {variable('CLIENT_TOKEN')}"
        ),
    )


def prose(key: str, data: TestData) -> InterfaceProse | None:
    """Returns the prose rules of an authorization server operation; None for other operations."""
    if key not in _PROSE:
        return None
    plain, context, mutations, location = _PROSE[key]
    return InterfaceProse(partial(plain, data), context(data), partial(mutations, data), location)


_PROSE: Mapping[str, tuple[Callable[[TestData, Draft], Draft], Any, Any, Location]] = {
    AUTHORIZE: (with_known_values, authorize_context, authorizations, "without error"),
    TOKEN: (password_grant, token_context, grants, ""),
    TOKEN_INFO: (plain_validation, token_info_context, validations, ""),
}
"""Operation to functions for plain request, context and mutations, and the redirect on success."""
