"""Loads OpenAPI 3.0 to 3.2 documents, and follows their references.

Everything that was found is named by its JSON pointer (RFC 6901), so that a validator, a message and
a report can all say where the document says so. References stay references: inlining them breaks on
recursion and loses the place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from understudy.errors import StartupError
from understudy.openapi.diagnostics import Diagnostic, loss
from understudy.openapi.mending import mend
from understudy.openapi.operation_mends import mend_operations
from understudy.openapi.overlays import apply_overlays
from understudy.openapi.path_queries import declare_path_queries
from understudy.openapi.pointers import escape
from understudy.openapi.references import FILES, with_text_keys
from understudy.openapi.servers import base_paths
from understudy.openapi.swagger import converted
from understudy.openapi.yaml_files import read_yaml

MAX_REFERENCES = 32
_SHORT_VERSIONS = ("3.0", "3.1", "3.2")
_SWAGGER = "2.0"
_VERSIONS = tuple(f"{version}." for version in _SHORT_VERSIONS)

LITERALS = frozenset({"example", "examples", "default", "enum", "const"})
"""Keywords whose values are data: nothing in there is a schema or a reference."""

NAME_MAPS = frozenset(
    {
        *("properties", "patternProperties", "dependentSchemas", "definitions", "$defs"),
        *("schemas", "responses", "parameters", "headers", "requestBodies", "callbacks", "links"),
    }
)
"""Keywords whose members are names, and so no keywords even where they read like some."""


class Node(NamedTuple):
    """A value in the document, and its JSON pointer (RFC 6901)."""

    pointer: str
    value: Any

    def child(self, *steps: str | int) -> "Node | None":
        """Returns the node below, or None if a step does not exist."""
        pointer, value = self.pointer, self.value
        for step in steps:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                return None
            pointer = f"{pointer}/{escape(str(step))}"
        return Node(pointer, value)

    def children(self) -> "Iterator[tuple[str | int, Node]]":
        """Yields the members of an object, or the items of an array, with their keys."""
        keys = range(len(self.value)) if isinstance(self.value, list) else self.value
        for key in keys:
            yield key, Node(f"{self.pointer}/{escape(str(key))}", self.value[key])


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Document:
    """An OpenAPI document as its author meant it; equal to itself alone, so that it can be a key.

    Attributes:
        path: The file it was read from.
        raw: Its content, as valid OpenAPI; never changed.
        losses: What could not be taken as it was written.
    """

    path: Path
    raw: dict[str, Any]
    losses: tuple[Diagnostic, ...] = ()

    @property
    def is_30(self) -> bool:
        """Tells whether its schemas are OpenAPI 3.0's own dialect and not JSON Schema 2020-12."""
        return str(self.raw["openapi"]).startswith("3.0")

    @property
    def base_path(self) -> str:
        """The path of its first server, without a slash at the end; empty where it gives none."""
        return next(iter(self.base_paths), "")

    @property
    def base_paths(self) -> tuple[str, ...]:
        """The paths of all its servers; empty where it names none."""
        return base_paths(self.raw.get("servers"))

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of the document, and those that it refers to."""
        return (self.path, *(self.path.parent / name for name in self.raw.get(FILES, {})))

    @property
    def root(self) -> Node:
        """The whole document."""
        return Node("#", self.raw)

    def follow(self, node: Node) -> Node:
        """Returns what a reference leads to, or the node itself where it is none.

        Raises:
            StartupError: The reference leads out of the document, nowhere, or in a circle.
        """
        for _ in range(MAX_REFERENCES):
            if not (isinstance(node.value, dict) and isinstance(node.value.get("$ref"), str)):
                return node
            node = self._target(node)
        msg = f"{self.path}: {node.pointer}: the reference leads back to itself."
        raise StartupError(msg)

    def expect(self, node: Node, kind: "type[dict[Any, Any]] | type[list[Any]]") -> Node:
        """Returns what a node leads to, which must be an object (``dict``) or a ``list``.

        Raises:
            StartupError: It is something else.
        """
        node = self.follow(node)
        if not isinstance(node.value, kind):
            wanted = "an object" if kind is dict else "a list"
            msg = f"{self.path}: {node.pointer} must be {wanted}, and is {node.value!r:.80}."
            raise StartupError(msg)
        return node

    def _target(self, node: Node) -> Node:
        reference = node.value["$ref"]
        if not reference.startswith("#/"):
            msg = (
                f"{self.path}: {node.pointer}: $ref {reference!r} leads out of the document. "
                "Bundle it into one file first."
            )
            raise StartupError(msg)
        target: Node | None = self.root
        for step in reference[2:].split("/"):
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            numbered = target is not None and isinstance(target.value, list) and key.isdecimal()
            target = target and target.child(int(key) if numbered else key)
        if target is None:
            msg = f"{self.path}: {node.pointer}: $ref {reference!r} leads nowhere."
            raise StartupError(msg)
        return target


def load(path: Path, overlays: Sequence[Path] = ()) -> Document:
    """Loads a document, and the files beside it that it refers to.

    Args:
        path: A YAML or JSON file.
        overlays: Overlay files that change it first, in their order.

    Raises:
        StartupError: It cannot be read, or is not OpenAPI 3.0, 3.1 or 3.2.
    """
    repeated: list[str] = []
    document = _read(read_yaml(path, repeated), path, overlays, files_of=path)
    losses = (loss("duplicate-key", "#", message) for message in repeated)
    return replace(document, losses=(*losses, *document.losses))


def document_of(content: Any, path: Path) -> Document:
    """Returns the document that a file's content is; files that it refers to are not read.

    Args:
        content: As YAML or JSON has it.
        path: What names it in a message.

    Raises:
        StartupError: It is not OpenAPI 3.0, 3.1 or 3.2.
    """
    return _read(content, path, (), files_of=None)


def _read(content: Any, path: Path, overlays: Sequence[Path], files_of: Path | None) -> Document:
    raw = with_text_keys(content)
    if not isinstance(raw, dict):
        msg = f"{path} is not an OpenAPI document: its top level is not an object."
        raise StartupError(msg)
    losses = apply_overlays(raw, overlays)
    if str(raw.get("swagger")) == _SWAGGER:
        raw = converted(raw)
        message = "Swagger 2.0 is converted to OpenAPI 3.0; pointers are of the result."
        losses.append(loss("converted-version", "#", message))
    version = raw.get("openapi")
    if isinstance(version, float | str) and str(version) in _SHORT_VERSIONS:
        version = raw["openapi"] = f"{version}.0"
    if not (isinstance(version, str) and version.startswith(_VERSIONS)):
        raise _unread(path, raw)
    mended = mend(raw, files_of)
    declare_path_queries(raw)
    mend_operations(raw, mended)
    return Document(path, raw, (*losses, *mended.diagnostics))


def _unread(path: Path, raw: Mapping[str, Any]) -> StartupError:
    """Returns the error of a document in a version that is not read."""
    named = "swagger" if "swagger" in raw else "openapi"
    return StartupError(
        f"{path} says {named}: {raw.get(named)!r}; understudy reads OpenAPI 3.0.x, 3.1.x and 3.2.x, "
        "and Swagger 2.0."
    )
