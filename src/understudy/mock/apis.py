"""Builds the APIs that the mock serves, each by a function that joins a document with its handlers.

The document of another service has no handlers here: responses come from the document, at its own
paths, and any credential of a declared kind is valid, since the fixtures' people are not accounts of that
service.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from understudy import plugins
from understudy.errors import Problem, StartupError
from understudy.interface.operations import key_of
from understudy.interface.recognition import COMPARED, interface_operations
from understudy.interface.vocabulary import OWN_WORDS, Vocabulary
from understudy.mock.authserver import applications, sign_in_traces, token_endpoint
from understudy.mock.authserver.accounts import compared, find_account
from understudy.mock.authserver.approval import deciding
from understudy.mock.authserver.authorization_request import error_response as authorization_error
from understudy.mock.policies import OAUTH_POLICIES, POLICIES, opening
from understudy.mock.server import guards
from understudy.mock.server.api import Api, takes_any_token
from understudy.mock.server.call import Handler, HandlerResponse, Handlers, Principal, shape
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.hosts import BASE_PATH, METADATA_PATH
from understudy.mock.server.listing import Listing
from understudy.mock.server.worlds import World
from understudy.mock.service import (
    linked_pictures,
    own_profile,
    profiles,
    representations,
    resource_operations,
)
from understudy.mock.service.published import JSON_PATH, PATH, publish, with_published
from understudy.mock.settings import Settings, TokenPolicy
from understudy.mock.store.tokens import authenticate, why_invalid
from understudy.openapi.loader import Document
from understudy.openapi.media_types import JSON
from understudy.openapi.operations import operations

DEFAULT_BASE_PATH = "/v3"  # interface, Versioning, 2

TOKEN_HINT = "The tokens of the mock are listed by `understudy fixtures --list`."


def resource_error(problem: Problem) -> HandlerResponse:
    """Returns a problem in the interface's Error shape."""
    return HandlerResponse(
        representations.error_body(problem), problem.status, headers=problem.headers
    )


def resource_api(document: Document, vocabulary: Vocabulary = OWN_WORDS) -> Api:
    """Returns the resource API for the document in force, with the names that a deployment uses."""
    base_path = document.base_path or DEFAULT_BASE_PATH
    document = with_published(document)
    return Api(
        document=document,
        base_path=base_path,
        handlers={**resource_operations.HANDLERS, ("GET", PATH): publish(document, base_path)},
        error_response=resource_error,
        authenticate=authenticate,
        explain_token=why_invalid,
        token_hint=TOKEN_HINT,
        scopes=resource_operations.scopes(vocabulary),
        limited=resource_operations.LIMITED,
        quota=resource_operations.quota,
        aliases=resource_operations.upload_names(vocabulary),
        json_as_form=resource_operations.JSON_AS_FORM,
        numeric_booleans=resource_operations.NUMERIC_BOOLEANS,
        header_names=resource_operations.header_names(vocabulary),
        preconditions=resource_operations.PRECONDITIONS,
        completions=representations.COMPLETIONS,
        policies=replace(POLICIES, opens=opening(vocabulary)),
    )


def with_foreign_handlers(api: Api, settings: Settings) -> Api:
    """Returns an API with the handlers of other packages, for operations without a handler of ours.

    Raises:
        StartupError: Two packages offer a handler of one operation, or one cannot be imported.
    """
    ours = {shape(*key) for key in api.handlers}
    declared = {shape(operation.method, operation.path) for operation in operations(api.document)}
    if settings.handlers == "off" or declared <= ours:
        return api
    handlers = dict(api.handlers)
    for package, brought in plugins.every("handlers").items():
        for key, handler in brought.items():
            if handlers.setdefault(key, handler) is not handler:
                msg = f"{' '.join(key)} has a handler already; remove it from the handlers '{package}'."
                raise StartupError(msg)
    return replace(api, handlers=handlers)


def _of_one(path: str, summary: str, handler: Handler, like: Api) -> Api:
    """Returns an API of one operation that returns JSON, with a generated document.

    Args:
        path: Path of the operation.
        summary: Summary of the operation.
        handler: Handler of the operation.
        like: API whose base path and error shape the new one has.
    """
    operation = {
        "summary": summary,
        "responses": {"200": {"description": "It is shown.", "content": {JSON: {}}}},
        "security": [],
    }
    paths = {} if path in like.paths else {path: {"get": operation}}
    raw = {"openapi": "3.0.3", "info": {"title": summary, "version": "1"}, "paths": paths}
    return Api(
        document=Document(like.document.path, raw),
        base_path=like.base_path,
        handlers={("GET", path): handler},
        error_response=like.error_response,
    )


def definition_api(resource: Api) -> Api:
    """Returns the API that publishes the document in force at the path that most tools look for.

    It is separate, so that the published document does not contain the operation.
    """
    handler = publish(resource.document, resource.base_path)
    return _of_one(JSON_PATH, "Read this document under another name", handler, resource)


def web_api(document: Document) -> Api:
    """Returns the API of the pictures and icons that responses link to."""
    return Api(
        document=document,
        base_path="",
        handlers=resource_operations.WEB_HANDLERS,
        error_response=resource_error,
        is_lenient=True,  # an <img> cannot show an error message
    )


def authorization_api(document: Document, auto_approve: str | None = None) -> Api:
    """Returns the API of the authorization server's endpoints; its other pages are in no document.

    Args:
        document: Document that declares the endpoints.
        auto_approve: Slug of the person who approves every authorization request; None: pages ask.
    """
    return Api(
        document=document,
        base_path="",
        handlers=token_endpoint.HANDLERS,
        error_response=authorization_error,
        pages={token_endpoint.AUTHORIZE: deciding(auto_approve)},
        policies=OAUTH_POLICIES,
    )


def metadata_api(like: Api) -> Api:
    """Returns the API of the authorization server's metadata (RFC 8414), an addition to the interface."""
    summary = "Read what the authorization server can do"
    return _of_one(METADATA_PATH, summary, token_endpoint.metadata, like)


def user_info_api(document: Document, vocabulary: Vocabulary) -> Api:
    """Returns the API of the UserInfo endpoint, which tells clients who signed in."""
    return Api(
        document=document,
        base_path="",
        handlers=own_profile.user_info_handlers(vocabulary),
        error_response=authorization_error,
        authenticate=authenticate,
        explain_token=why_invalid,
        token_hint=TOKEN_HINT,
        scopes=own_profile.user_info_scopes(vocabulary),
    )


def admin_api(document: Document, steering: Handlers) -> Api:
    """Returns the mock's own admin API."""
    return Api(
        document=document,
        base_path=BASE_PATH,
        handlers={
            **steering,
            **applications.HANDLERS,
            **sign_in_traces.HANDLERS,
            **linked_pictures.HANDLERS,
            **profiles.HANDLERS,
        },
        error_response=guards.admin_error,
        is_steering=True,
    )


_NEWER = {key_of(*key) for key in (*resource_operations.HANDLERS, ("GET", PATH))} - COMPARED
"""Operations with handlers that the interface does not describe, and ``GET /openapi``."""

CHECKED: Final = frozenset({"known", "strict"})
"""The policies under which only credentials of the fixtures are valid."""

KNOWN_HINT = "`understudy fixtures --list` shows tokens and passwords that are valid"


def is_own_service(api: Api) -> bool:
    """Tells whether any operation has a handler of the bundled service."""
    ours = resource_operations.HANDLERS
    return any(ours.get(key) is handler for key, handler in api.handlers.items())


def adapted(api: Api, declared: Document, settings: Settings) -> Api:
    """Returns the resource API, adapted to the service that its document describes.

    Args:
        api: Resource API of the bundled service.
        declared: Document in force, as it was loaded.
        settings: Settings of the run: whether handlers are used, and which credentials are valid.

    Raises:
        StartupError: ``--tokens any`` for the bundled service, in which a token stands for a person.
    """
    tokens = settings.tokens
    own = interface_operations(declared)
    api = _bound(api, own if settings.handlers == "auto" else frozenset())
    is_own = is_own_service(api)
    if is_own and tokens == "any":
        msg = (
            "--tokens any needs --document of another service: in this one a token speaks for a "
            "person; `understudy fixtures --list` shows those that are valid."
        )
        raise StartupError(msg)
    if not is_own:
        base_path = declared.base_path
        is_taken = PATH in declared.raw.get("paths", {}) and not own
        handlers = {} if is_taken else {("GET", PATH): publish(api.document, base_path)}
        api = Api(
            document=api.document,
            base_path=base_path,
            handlers=handlers,
            error_response=_error_of_all_violations,
            has_usual_errors=True,
            authenticate=api.authenticate,
            explain_token=api.explain_token,
            token_hint=api.token_hint,
            policies=api.policies,
            needs_acceptable=settings.accept == "strict",
        )
    if tokens in CHECKED:
        return replace(
            api,
            checks_declared_scopes=tokens == "strict",
            authenticate_key=authenticate,
            authenticate_account=_authenticate_account,
            credential_hint=KNOWN_HINT,
        )
    if is_own:
        return replace(api, authenticate_key=api.authenticate, credential_hint=KNOWN_HINT)
    return replace(api, authenticate=takes_any_token, token_hint="Any token will do here.")


def _bound(api: Api, own: frozenset[str]) -> Api:
    """Returns an API with the handlers, scopes and quotas of only the service's own operations.

    Those that only newer definitions of the service have are kept if any other operation is.

    Args:
        api: Resource API.
        own: Operations that the document shares with the interface; empty to keep no handlers.
    """
    bound = {key for key in api.handlers if own and key_of(*key) in own | _NEWER}
    return replace(
        api,
        handlers={key: handler for key, handler in api.handlers.items() if key in bound},
        scopes={key: scopes for key, scopes in api.scopes.items() if key in bound},
        limited=api.limited & bound,
    )


def _error_of_all_violations(problem: Problem) -> HandlerResponse:
    """Returns a problem in the interface's Error shape, with all violations in its message."""
    body = representations.error_body(problem)
    if problem.violations:
        body = {**body, "error": " ".join(it.message for it in problem.violations)}
    return HandlerResponse(body, problem.status, headers=problem.headers)


def _authenticate_account(world: World, name: str, password: str) -> Principal | None:
    """Returns the principal of a person's user name and password; None if they are wrong.

    Failed attempts are not throttled, which is a rule of the authorization server only: documents of other
    services declare no 429 for it.
    """
    person = find_account(world, name)
    if compared(person, password) == "wrong" or person is None:
        return None
    return Principal(person.slug, "oauth", frozenset(), "")


def listing(
    title: str, endpoints: Sequence[Endpoint], tokens: TokenPolicy | None
) -> Listing | None:
    """Returns the listing of another service's document; None for the bundled service."""
    if any(is_own_service(endpoint.api) for endpoint in endpoints):
        return None
    return Listing(title, endpoints, are_credentials_checked=tokens in CHECKED)


def beside(resource: Api, authorization: Sequence[Api], web: Api, administration: Api) -> list[Api]:
    """Returns the APIs at the address of the resource API.

    Another service has no pictures of people, unless sign-in pages at the same address show them; where
    paths collide, those of its document win.

    Args:
        resource: Resource API.
        authorization: APIs of the authorization server; empty if it has another address.
        web: API of pictures.
        administration: Admin API.
    """
    if authorization:
        own = [_without(api, resource) for api in (*authorization, web)]
        return [resource, *own, administration]
    is_own = is_own_service(resource)
    return [resource, *([web] if is_own else []), administration]


def _without(api: Api, preferred: Api) -> Api:
    """Returns an API without the paths that a preferred API at the same address declares."""
    taken = {preferred.base_path + shape("", path)[1] for path in preferred.paths}
    paths = {path: item for path, item in api.paths.items() if shape("", path)[1] not in taken}
    if len(paths) == len(api.paths):
        return api
    document = Document(api.document.path, {**api.document.raw, "paths": paths})
    return replace(api, document=document)
