"""Reads target files (TOML), strictly: a misspelt permission must not silently be the default."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, ValidationError, convert
from msgspec.structs import asdict

from understudy.deployments.target import MODES, Target
from understudy.errors import StartupError, nearest


def load_target(path: Path, environment: Mapping[str, str]) -> Target:
    """Reads a target file.

    Args:
        path: A TOML file.
        environment: The variables that ``env:NAME`` refers to.

    Raises:
        StartupError: It cannot be read or is invalid; the text names the key and what to write.
    """
    try:
        raw = tomllib.loads(path.read_text("utf-8-sig"))  # editors begin files with a mark
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}. `understudy verify --init` writes one."
        raise StartupError(msg) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"{path} is not valid TOML: {error}."
        raise StartupError(msg) from error
    return target_of(raw, environment, str(path))


def target_of(raw: Mapping[str, Any], environment: Mapping[str, str], where: str) -> Target:
    """Returns the target that a file's content describes.

    Raises:
        StartupError: It is invalid.
    """
    _expect_known_keys(raw, Target, where)
    try:
        target = convert(_resolved(raw, environment, where), Target)
    except ValidationError as error:
        raise StartupError(_invalid(raw, error, where)) from error
    for name in ("base_url", "auth_url"):
        _expect_base_url(getattr(target, name), f"{where}: {name}")
    return target


_TOKEN = re.compile("[!-~]+")
"""Matches what a header can carry behind ``Bearer``."""


def expect_sendable(target: Target, where: str) -> None:
    """Refuses credentials that cannot be sent; none of them is repeated.

    Raises:
        StartupError: One has a character that no header carries.
    """
    for name, token in asdict(target.credentials).items():
        if token is not None and not _TOKEN.fullmatch(token):
            msg = (
                f"{where}: [credentials] {name} holds a space, a line end or a letter beyond ASCII, "
                "which no Authorization header carries; copy the token again."
            )
            raise StartupError(msg)


def _expect_base_url(url: str | None, what: str) -> None:
    """Refuses what is not the beginning of URLs; a password in it is not repeated."""
    if url is None:
        return
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_url = False
    if not is_url:
        msg = f"{what} = {_as_toml(url)} is not a URL; write it as https://host/path."
        raise StartupError(msg)
    if "@" in parts.netloc or parts.query or parts.fragment:
        msg = f"{what} has a user name, a query or a fragment; write it as https://host/path."
        raise StartupError(msg)


def _expect_known_keys(raw: Mapping[str, Any], kind: type[Struct], where: str) -> None:
    known = {f: kind.__annotations__[f] for f in kind.__struct_fields__}
    for key, value in raw.items():
        if key not in known:
            hint = nearest(key, list(known)) or f"; there are {', '.join(known)}."
            msg = f"{where}: there is no key '{key}'{hint}"
            raise StartupError(msg)
        if isinstance(value, dict) and isinstance(known[key], type):
            _expect_known_keys(value, known[key], f"{where}: [{key}]")


_INVALID = re.compile(r"(?P<what>.*) - at `\$\.(?P<path>[a-z_.]+)(?P<item>[^`]*)`")
"""The text of msgspec's validation error: what is wrong, and the path of the value."""

_MISSING = re.compile(r"Object missing required field `(\w+)`")

_EXPECTED = {"int": "a whole number", "str": "a text", "bool": "true or false", "array": "a list"}


def _invalid(raw: Mapping[str, Any], error: ValidationError, where: str) -> str:
    """Returns what is wrong with a value, in the words of the file."""
    missing = _MISSING.fullmatch(str(error))
    if missing is not None:
        return f"{where}: {missing[1]} is missing; `understudy verify --template` shows every key."
    match = _INVALID.fullmatch(str(error))
    if match is None:
        return f"{where}: {error}."
    *tables, key = match["path"].split(".")
    value: Any = raw
    for name in (*tables, key):
        value = value[name]
    named = f"[{tables[0]}] {key}" if tables else key
    if key == "mode":
        return f"{where}: {named} = {_as_toml(value)} is not a mode; write {', '.join(MODES)}."
    expected = re.search(r"Expected `(\w+)", match["what"])
    wanted = _EXPECTED.get(expected[1], expected[1]) if expected else match["what"]
    wanted += ", 0 or more" if ">=" in match["what"] else ""
    wanted = "a list of texts" if match["item"] else wanted
    return f"{where}: {named} = {_as_toml(value)} must be {wanted}."


def _as_toml(value: Any) -> str:
    """Returns a value as the file has it; a date, which JSON has not, as a text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _resolved(value: Any, environment: Mapping[str, str], where: str) -> Any:
    if isinstance(value, dict):
        return {
            key: _resolved(member, environment, f"{where}: {key}") for key, member in value.items()
        }
    if isinstance(value, str) and value.startswith("env:"):
        name = value.removeprefix("env:")
        if not environment.get(name):
            msg = f"{where}: the environment variable {name} is not set; export it, or leave the key out."
            raise StartupError(msg)
        return environment[name].strip("\r\n")  # of the file that it was read from
    return value
