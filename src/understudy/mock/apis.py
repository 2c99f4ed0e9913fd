"""Joins each document with its handlers: what the mock serves, one function an API."""

from dataclasses import replace

from understudy import plugins
from understudy.errors import Problem, StartupError
from understudy.interface.vocabulary import OWN_WORDS, Vocabulary
from understudy.mock.authserver import applications_admin, sign_in_traces, token_endpoint
from understudy.mock.authserver.approval import deciding
from understudy.mock.authserver.oauth_errors import error_response as authorization_error
from understudy.mock.policies import OAUTH_POLICIES, POLICIES, opening
from understudy.mock.server import guards
from understudy.mock.server.api import Api
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.handlers import Handler, Handlers, shape
from understudy.mock.server.own_paths import BASE_PATH
from understudy.mock.service import (
    linked_pictures,
    own_profile,
    profiles,
    representations,
    resource_operations,
)
from understudy.mock.service.published import JSON_PATH, PATH, publish, with_published
from understudy.mock.settings import Settings
from understudy.mock.store.tokens import authenticate, why_invalid
from understudy.openapi.loader import Document
from understudy.openapi.operations import operations

JSON = "application/json"

DEFAULT_BASE_PATH = "/v3"  # interface, Versioning, 2

TOKEN_HINT = "The tokens of the mock are listed by `understudy fixtures --list`."


def resource_error(problem: Problem) -> HandlerResponse:
    """Returns a problem in the interface's Error shape."""
    return HandlerResponse(
        representations.error_body(problem), problem.status, headers=problem.headers
    )


def resource_api(document: Document, vocabulary: Vocabulary = OWN_WORDS) -> Api:
    """Returns the resource API under whatever document is in force, in the words of a deployment."""
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
    """Returns an API with the handlers of other packages, where an operation has none of ours.

    Raises:
        StartupError: Two packages bring a handler of one operation, or one cannot be imported.
    """
    ours = {shape(*key) for key in api.handlers}
    declared = {shape(each.method, each.path) for each in operations(api.document)}
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
    """Returns an API of one operation that reads JSON, which is in no document of ours.

    Args:
        path: Its path.
        summary: What it is for.
        handler: Responds to it.
        like: The API whose base path and errors it has.
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
    """Returns what publishes the document in force under the name that most tools look for.

    It is an API of its own, so that the document is published as it is, and does not list it.
    """
    handler = publish(resource.document, resource.base_path)
    return _of_one(JSON_PATH, "Read this document under another name", handler, resource)


def web_api(document: Document) -> Api:
    """Returns the API of what responses link to: pictures and icons."""
    return Api(
        document=document,
        base_path="",
        handlers=resource_operations.WEB_HANDLERS,
        error_response=resource_error,
        is_lenient=True,  # an <img> shows no message
    )


def authorization_api(document: Document, auto_approve: str | None = None) -> Api:
    """Returns the authorization server's endpoints; its other pages are in no document.

    Args:
        document: Declares them.
        auto_approve: Slug of the person who approves every authorization request; None: none does.
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
    """Returns what describes the authorization server (RFC 8414), which the interface does not have."""
    summary = "Read what the authorization server can do"
    return _of_one(token_endpoint.METADATA, summary, token_endpoint.metadata, like)


def user_info_api(document: Document, vocabulary: Vocabulary) -> Api:
    """Returns what tells clients of the authorization server who signed in."""
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
            **applications_admin.HANDLERS,
            **sign_in_traces.HANDLERS,
            **linked_pictures.HANDLERS,
            **profiles.HANDLERS,
        },
        error_response=guards.admin_error,
        is_steering=True,
    )
