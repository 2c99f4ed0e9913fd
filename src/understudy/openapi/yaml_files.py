"""Reads YAML as YAML 1.2's core schema does: dates stay strings, and ``no`` is Norway.

``yaml_values`` builds the values. JSON is YAML too, but is read by a JSON parser, which takes a
fiftieth of the time.
"""

import codecs
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from understudy.errors import StartupError
from understudy.limits import YAML_DEPTH
from understudy.openapi.yaml_bounds import beyond, is_nested_too_deeply
from understudy.openapi.yaml_values import YamlValues

_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order mark to encoding (YAML 1.2.2, 5.2)."""


def read_yaml(path: Path, repeated: list[str] | None = None) -> Any:
    """Reads one YAML or JSON file.

    Args:
        path: The file, in UTF-8, or in another encoding that a byte order mark names.
        repeated: Collects what is said of keys that occur twice; None refuses them.

    Returns:
        Dicts, lists, strings, numbers, booleans and None.

    Raises:
        StartupError: It cannot be read, or is not YAML; the text names file and line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        msg = f"{path} cannot be read: {reason}. Check the path."
        raise StartupError(msg) from error
    return parse_yaml(content, path, repeated)


def parse_yaml(content: bytes, path: Path, repeated: list[str] | None = None) -> Any:
    """Reads what a YAML or JSON file holds.

    Args:
        content: In UTF-8, or in another encoding that a byte order mark names.
        path: What names it in a message.
        repeated: Collects what is said of keys that occur twice; None refuses them.

    Raises:
        StartupError: It is not YAML; the text names file and line.
    """
    try:
        content = _in_utf_8(content)
        value = _parse(content, path, repeated)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else f"{path}"
        what = getattr(error, "problem", None) or error
        msg = f"{where} is not readable as YAML: {what}."
        raise StartupError(msg) from error
    if is_nested_too_deeply(value):
        raise beyond(YAML_DEPTH, path)
    return value


def _parse(content: bytes, path: Path, repeated: list[str] | None) -> Any:
    if content.lstrip()[:1] in (b"{", b"["):
        # what fails is YAML in braces, or an error that the YAML reader explains with its line
        with suppress(ValueError, RecursionError):
            return _parse_json(content, repeated)
    return YamlValues(path, repeated).read(content)


def _in_utf_8(content: bytes) -> bytes:
    """Returns a file's content in UTF-8, without a byte order mark."""
    for mark, encoding in _ENCODINGS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding).encode()
    return content


def _parse_json(content: bytes, repeated: list[str] | None) -> Any:
    """Reads JSON, in which a key counts once, as in YAML.

    Raises:
        ValueError: It is not JSON, or has a key twice and `repeated` is None.
    """
    twice: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            name = next(name for name in found if names.count(name) > 1)
            twice.append(f"the key {name!r} occurs twice; the last one counts.")
        return found

    value = json.loads(content, object_pairs_hook=members, parse_constant=_refuse_constant)
    if twice and repeated is None:
        raise ValueError(twice[0])
    if repeated is not None:
        repeated += twice
    return value


def _refuse_constant(name: str) -> Any:
    msg = f"{name} is not JSON (RFC 8259, 6)"
    raise ValueError(msg)
