"""Defines the options that name a deployment, and makes its target from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from understudy.api.bundled_target import TARGET
from understudy.errors import StartupError
from understudy.interface.deployment_profile import load_profile
from understudy.store_address import is_store
from understudy.verify.target import PUBLISHED, Mode, Target, load_target, target_of

ADMIN_TOKEN = "UNDERSTUDY_ADMIN_TOKEN"
"""The environment variable with the admin token, for all commands that call the admin API."""

_OF_PROFILE = frozenset({"document", "overlays", "vocabulary", "facts", "state_model"})
"""The settings of a profile that apply to a run; the others apply to the mock."""


@dataclass(frozen=True, slots=True)
class DeploymentOptions:
    """The options that name a deployment; each replaces the key of the target file.

    Attributes:
        target_file: Target file; None together with no `base_url` means the mock in this process.
        base_url: Base URL of the resource API.
        auth_url: Base URL of the authorization server.
        document: OpenAPI document in force, or ``published`` for the deployment's own.
        overlays: Overlay files that change the document, in their order.
        like: Profile of the deployment, whose document, overlays, vocabulary, facts and state model
            apply where the target file names none.
        facts: Facts file to judge by.
        state_model: State-model file that corrects what is inferred from the document.
        mode: What may be written.
        max_requests: The most requests to send; None for no limit but the hour's.
        max_time: Stop sending after this time; None for no end.
        has_default_limits: Whether these two have defaults for another service.
        seed: Seed for the identifiers and responses of the mock in this process.
    """

    target_file: Path | None = None
    base_url: str | None = None
    auth_url: str | None = None
    document: Path | None = None
    overlays: tuple[Path, ...] = ()
    like: Path | None = None
    facts: Path | None = None
    state_model: Path | None = None
    mode: Mode | None = None
    max_requests: int | None = None
    max_time: timedelta | None = None
    has_default_limits: bool = True
    seed: int = 0

    @property
    def is_mock(self) -> bool:
        """True if they name the mock in this process."""
        return self.target_file is None and self.base_url is None


def target_from(options: DeploymentOptions, environment: Mapping[str, str]) -> Target:
    """Returns the target that the options name, with their values in place of the file's.

    Args:
        options: The caller's options.
        environment: Where ``env:NAME`` in a target file is looked up, and the admin token of a mock
            on another machine if the file has none.

    Raises:
        StartupError: The target file cannot be read, or the options contradict one another.
    """
    if options.is_mock and options.auth_url:
        msg = "--auth-url needs --target or --base-url: the mock in this process has its own."
        raise StartupError(msg)
    if options.target_file is not None:
        file = options.target_file
        target = _beside(file, load_target(file, environment, options.base_url))
    elif options.base_url is not None:
        target = target_of({"base_url": options.base_url}, environment, "--base-url")
    else:
        target = TARGET
    target = _like(_with_admin_token(target, environment), options.like)
    expect_document(options, target.document)
    replaced = {
        "base_url": options.base_url,
        "auth_url": options.auth_url,
        "document": options.document and str(options.document),
        "overlays": tuple(map(str, options.overlays)),
        "facts": options.facts and str(options.facts),
        "state_model": options.state_model and str(options.state_model),
        "mode": options.mode,
    }
    return msgspec.structs.replace(target, **{key: text for key, text in replaced.items() if text})


_FILES: Final = ("document", "overlays", "vocabulary", "like", "state_model", "facts", "ledger")
"""The keys of a target file that name files."""


def _beside(path: Path, target: Target) -> Target:
    """Returns a target whose files are those beside its own file."""

    def beside(text: str) -> str:
        return text if text == PUBLISHED or is_store(text) else str(path.parent / text)

    given = {name: value for name in _FILES if (value := getattr(target, name))}
    found = {
        name: beside(value) if isinstance(value, str) else tuple(map(beside, value))
        for name, value in given.items()
    }
    return msgspec.structs.replace(target, **found)


def _like(target: Target, path: Path | None) -> Target:
    """Returns a target with the settings of its deployment's profile for those that it lacks."""
    path = path or (None if target.like is None else Path(target.like))
    if path is None:
        return target
    profile = dict(load_profile(path))
    if "facts" in profile:
        profile["facts"] = profile["facts"][0]
    applied = {
        name: tuple(map(str, value)) if isinstance(value, tuple) else str(value)
        for name, value in profile.items()
        if name in _OF_PROFILE and not getattr(target, name)
    }
    return msgspec.structs.replace(target, **applied, like=str(path))


def profile_files(target: Target) -> dict[str, Any]:
    """Returns the files that a target names, by the keys of ``write_profile``."""
    return {
        "document": None if target.document == PUBLISHED else target.document,
        "overlay": target.overlays,
        "vocabulary": target.vocabulary,
        "state-model": target.state_model,
    }


def expect_document(options: DeploymentOptions, of_target: str | None = None) -> None:
    """Checks that overlays are only used with a document of the user's.

    Raises:
        StartupError: The bundled documents would be changed.
    """
    if options.overlays and options.document is None and of_target is None:
        msg = "--overlay changes a document of your own; name it with --document."
        raise StartupError(msg)


def _with_admin_token(target: Target, environment: Mapping[str, str]) -> Target:
    token = environment.get(ADMIN_TOKEN)
    if not token or target.credentials.admin_token is not None or not target.permit.clock:
        return target
    credentials = msgspec.structs.replace(target.credentials, admin_token=token)
    return msgspec.structs.replace(target, credentials=credentials)
