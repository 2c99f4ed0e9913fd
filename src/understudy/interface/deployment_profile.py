"""Reads deployment profiles: one file with every setting that makes a mock resemble a deployment.

Its keys are options of ``serve``, so that each setting can also be tried alone.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from msgspec import Struct, ValidationError, convert

from understudy.errors import StartupError, expect_no_nul, keys_at, not_a_record
from understudy.interface.vocabulary import Vocabulary, load_vocabulary
from understudy.openapi.yaml_files import read_yaml


class DeploymentProfile(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The profile of a deployment; its paths are relative to its own file.

    Attributes:
        document: The OpenAPI document that the deployment publishes.
        overlay: Overlay files that change the document, in their order.
        vocabulary: The deployment's vocabulary, or the path of its file.
        choose: Switch name to the option that the deployment takes.
        facts: Facts files that ``understudy learn`` wrote about it.
        fixtures: Directory of people, tokens and pictures.
        recording_key: File with the key of the recording that the fixtures come from.
        handlers: Whether bundled handlers respond.
        tokens: Which credentials are accepted.
        accept: Whether 406 is returned where no declared media type is acceptable.
        infer: Whether operations without a bundled handler share an inferred state.
        state_model: The file that corrects the inferred state model.
        seed_data: The items that inferred collections begin with.
        user_info: Whether the authorization server has the user-info operation.
        validate_responses: What happens to a response that violates the document.
    """

    document: str | None = None
    overlay: tuple[str, ...] = ()
    vocabulary: Vocabulary | str | None = None
    choose: dict[str, str] = {}
    facts: tuple[str, ...] = ()
    fixtures: str | None = None
    recording_key: str | None = None
    handlers: Literal["auto", "off"] | None = None
    tokens: Literal["any", "known", "strict"] | None = None
    accept: Literal["auto", "strict"] | None = None
    infer: Literal["auto", "off"] | None = None
    state_model: str | None = None
    seed_data: str | None = None
    user_info: bool | None = None
    validate_responses: Literal["refuse", "warn", "off"] | None = None


def write_profile(path: Path, files: Mapping[str, Any]) -> None:
    """Writes a deployment profile; an existing one keeps its values, and its lists gain paths.

    Args:
        path: The file.
        files: Key to a path or to several; a key without any is left out.
    """

    def relative(file: Path | str) -> str:
        return Path(os.path.relpath(file, path.parent)).as_posix()

    content = (read_yaml(path) or {}) if path.exists() else {}
    for key, value in files.items():
        if not value:
            continue
        if isinstance(value, Path | str):
            content.setdefault(key, relative(value))
        else:
            content[key] = list(dict.fromkeys((*content.get(key, ()), *map(relative, value))))
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


_FILES: Final = frozenset(
    "document vocabulary fixtures recording_key state_model seed_data overlays facts".split()
)
_SETTINGS: Final = {
    "overlay": "overlays",
    "choose": "choices",
    "validate_responses": "response_validation",
}
"""Key to the name of its setting, where the two differ."""


def load_profile(path: Path) -> Mapping[str, Any]:
    """Returns the settings that a deployment profile makes for a mock, by name.

    ``choices`` are texts such as ``rate-limits=off``. A vocabulary inside the profile is returned
    as the path of the profile, from which it is loaded like any other.

    Raises:
        StartupError: The profile is not valid; the text names the file, the key and what to write.
    """
    content = read_yaml(path)
    if not content or not isinstance(content, dict):
        msg = f"{path} is not the profile of a deployment; write some of {', '.join(keys_at(DeploymentProfile))}."
        raise StartupError(msg)
    expect_no_nul(content, path)
    if isinstance(content.get("vocabulary"), dict):
        load_vocabulary(path)  # for its own messages about wrong words
    try:
        profile = convert(content, DeploymentProfile)
    except ValidationError as error:
        msg = f"{path}: {not_a_record(error, DeploymentProfile)}"
        raise StartupError(msg) from error
    return _settings(path, profile)


def _settings(path: Path, profile: DeploymentProfile) -> dict[str, Any]:
    def file(value: Any) -> Path:
        return path.parent / value if isinstance(value, str) else path

    given = {name: getattr(profile, name) for name in profile.__struct_fields__}
    settings: dict[str, Any] = {
        _SETTINGS.get(name, name): value
        for name, value in given.items()
        if value not in (None, (), {})
    }
    for name in settings.keys() & _FILES:
        value = settings[name]
        settings[name] = tuple(map(file, value)) if isinstance(value, tuple) else file(value)
    if "choices" in settings:
        settings["choices"] = tuple(map("=".join, profile.choose.items()))
    return settings
