"""Mutations of token requests (grants, client credentials) and of token validation."""

from collections.abc import Callable, Iterator
from typing import Any

from understudy.generate.cases import CaseRequest, encoded_variable, variable
from understudy.generate.drafts import Draft
from understudy.generate.mutations import draft_changes
from understudy.generate.mutations.mutation import Mutation, rule
from understudy.generate.mutations.operation_context import OperationContext, ValueSemantics
from understudy.generate.test_data import TestData
from understudy.interface.scopes import AUTH, READ_PROFILE, SCOPES
from understudy.openapi.parameter_writing import encoded


def password_grant(data: TestData, draft: Draft) -> Draft:
    """Returns a plain password grant, the only grant that needs no person."""
    return _form(
        draft,
        grant_type="password",
        client_id=data.client_id,
        client_secret=encoded_variable("CLIENT_SECRET"),
        username=data.username,
        password=encoded_variable("PASSWORD"),
    )


def _form(draft: Draft, **fields: str) -> Draft:
    return draft._replace(form=tuple((name, encoded(text)) for name, text in fields.items()))


def code_request(data: TestData) -> CaseRequest | None:
    """Returns the authorization request whose redirect carries a code; None if a person must approve."""
    if not data.approval:
        return None
    query = {
        "client_id": data.client_id,
        "redirect_uri": data.redirect_uri,
        "response_type": "code",
        "scope[0]": AUTH,
    }
    pairs = [(encoded(name), encoded(text)) for name, text in query.items()]
    name, _, text = data.approval.partition("=")
    return CaseRequest("authorization", "GET", "/oauth2/authorize", (*pairs, (name, text)))


def token_context(data: TestData) -> dict[str, Any]:
    """Returns what the interface says of the form's fields, as fields of ``OperationContext``."""
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


def grants(data: TestData) -> Callable[[OperationContext], Iterator[Mutation]]:
    """Returns the function that yields the mutations of token requests."""

    def mutations(context: OperationContext) -> Iterator[Mutation]:
        yield from _grant_types(context)
        yield from _codes(context, data)
        yield from _client_credentials(context)
        for text in (AUTH, f"{AUTH} {READ_PROFILE}", " ".join(SCOPES)):
            yield context.accepted(
                "body scope",
                "scope",
                f"scope: {text}",
                "password-grant-scopes",
                rule("password-grant-scopes"),
                draft_changes.form("scope", encoded(text)),
            )._replace(is_option=True)

    return mutations


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
        yield context.refused(
            "body grant_type",
            "grant",
            f"grant_type: {text!r}",
            "token-grant-type",
            rule("token-grant-type"),
            draft_changes.form("grant_type", encoded(text)),
        )
    for name in ("grant_type", "client_id", "client_secret", "username", "password"):
        yield context.refused(
            f"body {name}",
            "required",
            f"{name} left out",
            "token-empty-field",
            f"{context.operation.pointer}/requestBody",
            draft_changes.form(name),
        )


def _codes(context: OperationContext, data: TestData) -> Iterator[Mutation]:
    code, uri, other = encoded_variable("CODE"), data.redirect_uri, f"{data.redirect_uri}/"
    plain = {"grant_type": "authorization_code", "client_id": data.client_id}
    plain["client_secret"] = encoded_variable("CLIENT_SECRET")

    def exchange(what: str, source: str, **fields: str) -> Mutation:
        make = (
            context.accepted
            if source == "code-exchange" and what == "all that it takes"
            else context.refused
        )
        mutation = make(
            "body",
            "grant",
            f"code grant: {what}",
            source,
            rule(source),
            lambda draft: _form(draft, **plain, **fields),
        )
        return mutation._replace(is_alone=code in fields.values())

    yield exchange("all that it takes", "code-exchange", code=code, redirect_uri=uri)
    yield exchange(
        "a code that was never given out", "code-exchange", code="guessed", redirect_uri=uri
    )
    yield exchange("no code", "code-exchange", redirect_uri=uri)
    yield exchange("an empty code", "token-empty-field", code="", redirect_uri=uri)
    yield exchange("a code and no redirect_uri", "code-redirect-uri-repeated", code=code)
    yield exchange(
        "a code and another redirect_uri",
        "code-redirect-uri-repeated",
        code=code,
        redirect_uri=other,
    )
    yield exchange(
        "a verifier without a challenge before",
        "pkce-honoured",
        code=code,
        redirect_uri=uri,
        code_verifier="v" * 43,
    )


def _client_credentials(context: OperationContext) -> Iterator[Mutation]:
    def basic(draft: Draft) -> Draft:
        draft = draft.with_form("client_id").with_form("client_secret")
        return draft.with_headers("Authorization", "Basic c2VydmVyLWFwcDpndWVzc2Vk")

    yield context.refused(
        "body client_secret",
        "authorization",
        "client credentials as HTTP Basic",
        "token-credentials-in-form",
        rule("token-credentials-in-form"),
        basic,
    )
    yield context.refused(
        "query client_secret",
        "authorization",
        "the client secret in the query as well",
        "token-secrets-not-in-query",
        rule("token-secrets-not-in-query"),
        draft_changes.more_query("client_secret", encoded_variable("CLIENT_SECRET")),
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
            yield context.refused(
                f"body {name}",
                "authorization",
                f"{name}: the right one {what}",
                source,
                rule(source),
                draft_changes.form(name, value),
            )


def plain_validation(data: TestData, draft: Draft) -> Draft:
    """Returns a plain token validation."""
    query = (("client_id", data.client_id), ("token", encoded_variable("CLIENT_TOKEN")))
    return draft._replace(query=query)


def token_info_context(data: TestData) -> dict[str, Any]:
    """Returns what the interface says of the parameters, as fields of ``OperationContext``."""
    clients = frozenset({data.client_id})
    foreign = rule("token-info-foreign")
    return {
        "semantics": {
            "query client_id": ValueSemantics("invalid", foreign, known=clients),
            "query token": ValueSemantics("invalid", rule("token-info-unspecific")),
        },
    }


def validations(context: OperationContext) -> Iterator[Mutation]:
    """Yields the mutations of token validation."""
    for what, text in {
        "another application's": encoded_variable("TOKEN"),
        "an expired one": encoded_variable("EXPIRED_TOKEN"),
        "an API key": encoded_variable("API_KEY"),
        "with Bearer before it": f"Bearer%20{encoded_variable('CLIENT_TOKEN')}",
        "with a letter behind it": f"{encoded_variable('CLIENT_TOKEN')}x",
    }.items():
        yield context.refused(
            "query token",
            "authorization",
            f"token: {what}",
            "token-info-foreign",
            rule("token-info-foreign"),
            draft_changes.query("token", text),
        )
    yield context.refused(
        "query token",
        "authorization",
        "the token in the Authorization header instead",
        "token-info",
        rule("token-info"),
        lambda draft: draft.with_query("token").with_headers(
            "Authorization", f"Bearer {variable('CLIENT_TOKEN')}"
        ),
    )
