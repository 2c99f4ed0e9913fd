"""Reads YAML as YAML 1.2's core schema does: dates stay strings, and ``no`` is Norway.

PyYAML follows YAML 1.1, where ``no`` is False, ``1:30`` is 90 and a date is an object; its C loader
is kept for speed and only the guessing of plain scalars is replaced.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from understudy.errors import StartupError
from understudy.openapi.yaml_bounds import expect_bounded


class _CoreSchemaLoader(yaml.CSafeLoader):
    """Guesses null, true, false, integers and floats, and nothing else; a key counts once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            keys = [key.value for key, _ in node.value]
            twice = next(key for key, _ in reversed(node.value) if keys.count(key.value) > 1)
            problem = f"the key {twice.value!r} occurs twice; keep one"
            raise yaml.constructor.ConstructorError(None, None, problem, twice.start_mark)
        return mapping

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Reads decimals (``007`` is 7), ``0o17`` and ``0xff``; YAML 1.1 has other octals."""
        text = str(self.construct_scalar(node))
        return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)


_CoreSchemaLoader.add_constructor("tag:yaml.org,2002:int", _CoreSchemaLoader.construct_yaml_int)
_CoreSchemaLoader.yaml_implicit_resolvers = {}


for _tag, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    (
        "float",
        r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$",
        list("-+.0123456789"),
    ),
):
    _CoreSchemaLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first
    )


def read_yaml(path: Path) -> Any:
    """Reads one YAML or JSON file.

    Args:
        path: The file, in UTF-8.

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
    return parse_yaml(content, path)


def parse_yaml(content: bytes, path: Path) -> Any:
    """Reads what a YAML or JSON file holds.

    Args:
        content: In UTF-8.
        path: What names it in a message.

    Raises:
        StartupError: It is not YAML; the text names file and line.
    """
    try:
        expect_bounded(content, path)
        return yaml.load(content, _CoreSchemaLoader)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else f"{path}"
        what = getattr(error, "problem", None) or error
        msg = f"{where} is not readable as YAML: {what}."
        raise StartupError(msg) from error
