"""Opens the deployment that a command or a test names: a target file, an address, or the mock."""

from base64 import b64encode
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import msgspec

from understudy.api.options import DeploymentOptions, target_from
from understudy.errors import StartupError
from understudy.exchange.messages import Request
from understudy.interface.recognition import interface_operations
from understudy.openapi.operations import operations, security_schemes
from understudy.verify.clock import ClockState
from understudy.verify.deployment import Deployment, deployment_of, ledger_of, locked, over_after
from understudy.verify.run import gateway_of
from understudy.verify.shapes import bundled
from understudy.verify.target import Login, Target, expect_sendable
from understudy.verify.transport import DeploymentTransport, RenewingTransport, received
from understudy.verify.undo import Undo
from understudy.verify.undo_journal import read_journal


def open_deployment(
    options: DeploymentOptions, environment: Mapping[str, str], original: ClockState | None = None
) -> Deployment:
    """Returns the deployment that the options name; nothing is sent to it yet.

    Args:
        options: The caller's options.
        environment: Where ``env:NAME`` in a target file is looked up.
        original: The clock's state before an earlier run moved it; None if no run did.

    Raises:
        StartupError: A file cannot be read, or the options contradict one another.
    """
    target = target_from(options, environment)
    if options.is_mock:
        from understudy.api.in_process import mock_deployment  # noqa: PLC0415 - imports the mock

        deployment = mock_deployment(target, options.seed)
    else:
        expect_sendable(target, str(options.target_file or "--base-url"))
        deployment = deployment_of(target, options.target_file, original)
    deployment = _as_another_service(deployment)
    requests, time = limits_of(deployment, options)
    allowance = replace(deployment.allowance, requests=requests, is_over=over_after(time))
    if time is not None and isinstance(deployment.transport, DeploymentTransport):
        deployment.transport.end_after(time)
    return replace(deployment, allowance=allowance)


LEAST_REQUESTS: Final = 400
REQUESTS_OF_OPERATION: Final = 16
MOST_TIME: Final = timedelta(minutes=5)
"""The limits of a run against another service, which no hour's budget limits."""


def limits_of(
    deployment: Deployment, options: DeploymentOptions
) -> tuple[int | None, timedelta | None]:
    """Returns the most requests and the longest time of a run; None for no limit but the hour's."""
    document, is_limited = deployment.document, options.has_default_limits
    if options.is_mock or document is None or not is_limited or interface_operations(document):
        return options.max_requests, options.max_time
    most = max(LEAST_REQUESTS, REQUESTS_OF_OPERATION * len(operations(document)))
    requests = most if options.max_requests is None else options.max_requests
    return requests, options.max_time or MOST_TIME


def _as_another_service(deployment: Deployment) -> Deployment:
    """Returns the deployment of another service, with its API key as the owner's token.

    If its document has HTTP Basic alone, the user name and password of the application are the token,
    unless the token is such a pair itself.

    On this machine its mode becomes ``full`` by default: how to undo its operations is seldom
    known, and without writes most of them could not be tried.
    """
    target, document = deployment.target, deployment.document
    if document is None or interface_operations(document):
        return deployment
    given = target.credentials
    token, app = given.access_token or given.api_key, target.application
    schemes = security_schemes(document).values()
    if app.username and app.password is not None and schemes and ":" not in (token or ""):
        is_basic = all(it.get("scheme") == "basic" for it in schemes)
        token = f"{app.username}:{app.password}" if is_basic else token
    owner = msgspec.structs.replace(given, access_token=token)
    target = msgspec.structs.replace(target, credentials=owner)
    deployment = replace(deployment, target=target)
    if target.is_mock or target.mode is not None or target.writes == "observe":
        return deployment
    return replace(deployment, target=msgspec.structs.replace(target, mode="full"))


def restore(journal: Path, target_file: Path, environment: Mapping[str, str]) -> list[str]:
    """Undoes the changes that a run left.

    Args:
        journal: The journal of the run.
        target_file: The target file of the run.
        environment: Where ``env:NAME`` in the target file is looked up.

    Returns:
        One line for each change that could not be undone.

    Raises:
        StartupError: A file cannot be read, a run still uses it, or the files are of different
            deployments.
    """
    state = read_journal(journal)
    opened = open_deployment(DeploymentOptions(target_file), environment, state.clock)
    deployment = logged_in(replace(opened, journal=journal))
    with closing(deployment), locked(deployment):
        base_url = deployment.target.base_url
        if base_url != state.base_url:
            msg = (
                f"{journal} is of {state.base_url}, and {target_file} of {base_url}; "
                "name the target file of that run with --target."
            )
            raise StartupError(msg)
        ledger = ledger_of(deployment)
        document = deployment.document or bundled("service.yaml")
        gateway = gateway_of(deployment, document, ledger)
        with closing(ledger):
            return Undo(gateway, journal, state).restore()


def logged_in(deployment: Deployment) -> Deployment:
    """Returns a deployment with the tokens that the logins of its target file obtain.

    Raises:
        StartupError: A login is refused, or its response has no token.
    """
    logins = _logins(deployment.target)
    if not logins:
        return deployment
    tokens = {name: _token(deployment, *logins[name]) for name in logins}
    target = _with_tokens(deployment.target, tokens)
    expect_sendable(target, "[login]")
    renewals = {tokens[name]: partial(_token, deployment, *logins[name]) for name in logins}
    transport = RenewingTransport(deployment.transport, renewals)
    return replace(deployment, target=target, transport=transport)


def as_if_logged_in(deployment: Deployment) -> Deployment:
    """Returns a deployment for a plan: a name stands for each token that a login would obtain."""
    target = deployment.target
    return replace(deployment, target=_with_tokens(target, {it: it for it in _logins(target)}))


def _logins(target: Target) -> dict[str, tuple[str, Login]]:
    """Returns the table and the login for each credential that the target file obtains by a login."""
    tables = (
        ("access_token", "login", target.login),
        ("other_access_token", "other_login", target.other_login),
        ("read_only_token", "reader_login", target.reader_login),
    )
    return {
        name: (table, login)
        for name, table, login in tables
        if login.path and getattr(target.credentials, name) is None
    }


def _with_tokens(target: Target, tokens: Mapping[str, str]) -> Target:
    credentials = msgspec.structs.replace(target.credentials, **tokens)
    return msgspec.structs.replace(target, credentials=credentials)


def _token(deployment: Deployment, table: str, login: Login) -> str:
    """Sends a login, and returns the token in its response.

    Raises:
        StartupError: The response has no token.
    """
    is_whole = login.path.startswith(("http://", "https://"))
    url = login.path if is_whole else deployment.target.base_url.rstrip("/") + login.path
    media_type = "application/x-www-form-urlencoded" if login.form else "application/json"
    body = urlencode(login.form).encode() if login.form else msgspec.json.encode(login.json)
    headers = [("content-type", media_type), ("accept", "application/json")]
    if login.basic:
        headers.append(("authorization", f"Basic {b64encode(login.basic.encode()).decode()}"))
    try:
        response = received(deployment.transport, Request("POST", url, tuple(headers), body))
    except httpx.HTTPError as error:
        msg = f"[{table}] {url} does not respond: {error}."
        raise StartupError(msg) from error
    value: Any = response.json
    for name in login.token.strip("/").split("/"):
        is_index = isinstance(value, list) and name.isdecimal() and int(name) < len(value)
        value = value[int(name)] if is_index else isinstance(value, dict) and value.get(name)
    if not response.is_success or not isinstance(value, str):
        msg = (
            f"[{table}] POST {url} answers {response.status} without a text at {login.token}; "
            "correct its path, json, form or basic, and token."
        )
        raise StartupError(msg)
    return value
