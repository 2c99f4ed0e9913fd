"""Oddities of the token endpoint (grants, client credentials) and of token validation."""

from collections.abc import Callable, Iterator
from typing import Any

from understudy.generate.cases import encoded_variable, variable
from understudy.generate.drafts import Draft, encoded
from understudy.generate.mutations import changes
from understudy.generate.mutations.mutation import Mutation, rule
from understudy.generate.mutations.operation_context import OperationContext, ValueSemantics
from understudy.generate.test_data import TestData
from understudy.interface.scopes import AUTH, READ_PROFILE, SCOPES


def token_base(known: TestData, draft: Draft) -> Draft:
    """Returns a plain password grant, the one that needs no person."""
    return _form(
        draft,
        grant_type="password",
        client_id=known.client_id,
        client_secret=encoded_variable("client_secret"),
        username=known.username,
        password=encoded_variable("password"),
    )


def _form(draft: Draft, **fields: str) -> Draft:
    return draft._replace(form=tuple((name, encoded(text)) for name, text in fields.items()))


def token_scene(known: TestData) -> dict[str, Any]:
    """Returns what the interface says of its fields."""
    credentials = rule("token-client-credentials")
    name, email = frozenset({known.username}), frozenset({known.email})
    unused = ValueSemantics("open", rule("password-grant-owner-only"))
    scope = ValueSemantics("invalid", rule("scope-known"), known=frozenset({"", "   "}))
    return {
        "meanings": {
            "body grant_type": ValueSemantics(
                "invalid", rule("token-grant-type"), known=frozenset({"password"})
            ),
            "body client_id": ValueSemantics(
                "invalid", credentials, known=frozenset({known.client_id})
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
        "needed": frozenset(
            f"body {name}"
            for name in ("grant_type", "client_id", "client_secret", "username", "password")
        ),
        "empty": "token-empty-field",
        "repeated": "token-repeated-field",
    }


def grants(known: TestData) -> Callable[[OperationContext], Iterator[Mutation]]:
    """Returns what yields the further turns of the token endpoint."""

    def oddities(scene: OperationContext) -> Iterator[Mutation]:
        yield from _grant_types(scene)
        yield from _codes(scene, known)
        yield from _client_credentials(scene)
        for text in (AUTH, f"{AUTH} {READ_PROFILE}", " ".join(SCOPES)):
            yield scene.accepted_turn(
                "body scope",
                "scope",
                f"scope: {text}",
                "password-grant-scopes",
                rule("password-grant-scopes"),
                changes.form("scope", encoded(text)),
            )._replace(is_option=True)

    return oddities


def _grant_types(scene: OperationContext) -> Iterator[Mutation]:
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
        yield scene.refused(
            "body grant_type",
            "grant",
            f"grant_type: {text!r}",
            "token-grant-type",
            rule("token-grant-type"),
            changes.form("grant_type", encoded(text)),
        )
    for name in ("grant_type", "client_id", "client_secret", "username", "password"):
        yield scene.refused(
            f"body {name}",
            "required",
            f"{name} left out",
            "token-empty-field",
            f"{scene.operation.pointer}/requestBody",
            changes.form(name),
        )


def _codes(scene: OperationContext, known: TestData) -> Iterator[Mutation]:
    code, uri, other = encoded_variable("code"), known.redirect_uri, f"{known.redirect_uri}/"
    plain = {"grant_type": "authorization_code", "client_id": known.client_id}
    plain["client_secret"] = encoded_variable("client_secret")

    def exchange(what: str, source: str, **fields: str) -> Mutation:
        make = (
            scene.accepted_turn
            if source == "code-exchange" and what == "all that it takes"
            else scene.refused
        )
        turn = make(
            "body",
            "grant",
            f"code grant: {what}",
            source,
            rule(source),
            lambda draft: _form(draft, **plain, **fields),
        )
        return turn._replace(is_alone=code in fields.values())

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


def _client_credentials(scene: OperationContext) -> Iterator[Mutation]:
    def basic(draft: Draft) -> Draft:
        draft = draft.with_form("client_id").with_form("client_secret")
        return draft.with_headers("Authorization", "Basic c2VydmVyLWFwcDpndWVzc2Vk")

    yield scene.refused(
        "body client_secret",
        "authorization",
        "client credentials as HTTP Basic",
        "token-credentials-in-form",
        rule("token-credentials-in-form"),
        basic,
    )
    yield scene.refused(
        "query client_secret",
        "authorization",
        "the client secret in the query as well",
        "token-secrets-not-in-query",
        rule("token-secrets-not-in-query"),
        changes.more_query("client_secret", encoded_variable("client_secret")),
    )
    for name in ("client_secret", "password"):
        text = encoded_variable(name)
        source = (
            "token-client-credentials" if name == "client_secret" else "password-grant-owner-only"
        )
        for what, given in (
            ("with a space behind it", f"{text}%20"),
            ("with a letter behind it", f"{text}x"),
        ):
            yield scene.refused(
                f"body {name}",
                "authorization",
                f"{name}: the right one {what}",
                source,
                rule(source),
                changes.form(name, given),
            )


def token_info_base(known: TestData, draft: Draft) -> Draft:
    """Returns a plain validation."""
    asked = (("client_id", known.client_id), ("token", encoded_variable("client_token")))
    return draft._replace(query=asked)


def token_info_scene(known: TestData) -> dict[str, Any]:
    """Returns what the interface says of its parameters."""
    clients = frozenset({known.client_id})
    foreign = rule("token-info-foreign")
    return {
        "meanings": {
            "query client_id": ValueSemantics("invalid", foreign, known=clients),
            "query token": ValueSemantics("invalid", rule("token-info-unspecific")),
        },
    }


def validations(scene: OperationContext) -> Iterator[Mutation]:
    """Yields the further turns of token validation."""
    for what, text in {
        "another application's": encoded_variable("token"),
        "an expired one": encoded_variable("expired_token"),
        "an API key": encoded_variable("api_key"),
        "with Bearer before it": f"Bearer%20{encoded_variable('client_token')}",
        "with a letter behind it": f"{encoded_variable('client_token')}x",
    }.items():
        yield scene.refused(
            "query token",
            "authorization",
            f"token: {what}",
            "token-info-foreign",
            rule("token-info-foreign"),
            changes.query("token", text),
        )
    yield scene.refused(
        "query token",
        "authorization",
        "the token in the Authorization header instead",
        "token-info",
        rule("token-info"),
        lambda draft: draft.with_query("token").with_headers(
            "Authorization", f"Bearer {variable('client_token')}"
        ),
    )
