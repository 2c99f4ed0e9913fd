"""Resolves the references of a document to JSON pointers into one tree, and spreads misplaced ones.

Each file that a reference names is read once and added below ``#/x-files``, so that its values have
pointers like all others. Only files below the document's directory are read; nothing is fetched.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from os.path import normpath
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from understudy.errors import StartupError
from understudy.limits import DOCUMENT_FILES, YAML_VALUES
from understudy.openapi.diagnostics import Losses, Position
from understudy.openapi.grammar import MAPS, MEMBERS, REFERENCED, is_compound
from understudy.openapi.pointers import (
    ROOT,
    Scope,
    as_reference,
    escape,
    objects_in,
    size_of,
    steps_of,
    value_at,
)
from understudy.openapi.yaml_files import read_yaml

FILES = "x-files"
"""Member of the document that holds the contents of other files, by relative path."""

_ANCHORS = ("$anchor", "$dynamicAnchor")
_WITHIN_SCHEMA = ("/$defs/", "/definitions/")


class Unresolved(Exception):
    """Raised for a reference that leads nowhere; the text says why."""


class Destination(NamedTuple):
    """The target of a reference.

    Attributes:
        pointer: JSON pointer in the tree.
        is_relative: True if the target was found relative to a schema around the reference, as in
            ``#/$defs/x`` of an embedded schema; the document's root has no such member.
    """

    pointer: str
    is_relative: bool = False


class _Index(NamedTuple):
    """Pointers of the schemas in one file, by their identifiers (``$id``) and anchors."""

    identifiers: Mapping[str, str]
    anchors: Mapping[str, list[str]]


class References:
    """Resolves the references of one document.

    Args:
        root: The document's content, to which the contents of other files are added.
        path: The document's file; None: do not read other files.

    Attributes:
        rewritten: Places whose reference is a pointer into the tree already.
    """

    def __init__(self, root: dict[str, Any], path: Path | None) -> None:
        self._root = root
        self._path = path and path.parent.resolve() / path.name
        self._indexes: dict[str, _Index] = {}
        self._self = str(root.get("$self", ""))
        self.rewritten: set[str] = set()

    def resolve(self, reference: str, scope: Scope, pointer: str) -> Destination:
        """Returns the target of a reference.

        Args:
            reference: The value of ``$ref``.
            scope: The scope in which the reference is resolved.
            pointer: Pointer of the object with the reference.

        Raises:
            Unresolved: The reference leads nowhere.
        """
        scope = Scope() if pointer in self.rewritten else scope
        uri, _, fragment = reference.partition("#")
        roots = [self._resource(uri, scope)] if uri else [scope.resource, scope.file]
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return Destination(self._anchor(fragment, roots, pointer))
        for root in roots:
            if root + fragment != ROOT and self._exists(root + fragment):
                return Destination(root + fragment)
        if not uri and fragment.startswith(_WITHIN_SCHEMA):
            for around in _ancestors(pointer):
                if self._exists(around + fragment):
                    return Destination(around + fragment, is_relative=True)
        msg = f"$ref {reference!r} leads " + ("nowhere" if fragment else "to the whole document")
        raise Unresolved(msg)

    def scope_of(self, pointer: str) -> Scope:
        """Returns the scope of the value at a pointer."""
        file = _file_of(pointer)
        identifiers = self._index(file).identifiers
        around = {place: uri for uri, place in identifiers.items() if _is_within(pointer, place)}
        resource = max(around, key=len, default=file)
        return Scope(file, resource, around.get(resource, ""))

    def within(self, scope: Scope, identifier: str, pointer: str) -> Scope:
        """Returns the scope within a schema that has an ``$id``."""
        return Scope(scope.file, pointer, urljoin(scope.base, identifier))

    def is_ambiguous(self, anchor: str, scope: Scope) -> bool:
        """Tells whether several schemas of a file have the same anchor, as dynamic references use."""
        return len(self._index(scope.file).anchors.get(anchor, ())) > 1

    def _exists(self, pointer: str) -> bool:
        try:
            value_at(self._root, pointer)
        except LookupError:
            return False
        return True

    def _resource(self, uri: str, scope: Scope) -> str:
        """Returns the pointer of the schema or file that a URI without fragment identifies."""
        absolute = urljoin(scope.base, uri)
        known = self._index(scope.file).identifiers
        if absolute in known:
            return known[absolute]
        if self._self and urljoin(self._self, uri) == self._self:
            return ROOT
        return self._file(uri, scope)

    def _file(self, uri: str, scope: Scope) -> str:
        parts = urlsplit(uri)
        if parts.scheme or parts.netloc:
            msg = f"$ref {uri!r} is an address, and understudy fetches nothing; save it as a file"
            raise Unresolved(msg)
        if self._path is None:
            msg = f"$ref {uri!r} names a file, and the document was not read from one"
            raise Unresolved(msg)
        referrer = "".join(steps_of(scope.file)[1:])  # empty for the document itself
        name = str(_relative(unquote(parts.path), referrer))
        if name == self._path.name:
            return ROOT
        pointer = f"#/{FILES}/{escape(name)}"
        files = self._root.setdefault(FILES, {})
        if name not in files:
            if len(files) >= DOCUMENT_FILES.most:
                msg = f"$ref {uri!r}: at most {DOCUMENT_FILES.most:,} {DOCUMENT_FILES.of} are read"
                raise Unresolved(msg)
            files[name] = _read(self._path.parent / name, name, uri)
        return pointer

    def _anchor(self, name: str, roots: list[str], pointer: str) -> str:
        """Returns the pointer of the schema with an anchor, the closest around the reference first."""
        places = self._index(_file_of(roots[0])).anchors.get(name, [])
        around = [root for root in _ancestors(pointer) if _is_within(root, roots[0])]
        for root in (*around, *roots):
            within = [place for place in places if _is_within(place, root)]
            if within:
                return within[0]
        msg = f"$ref '#{name}' names an anchor that no schema has"
        raise Unresolved(msg)

    def _index(self, file: str) -> _Index:
        if file not in self._indexes:
            self._indexes[file] = _indexed(value_at(self._root, file), file, self._self)
        return self._indexes[file]


MAX_REFERENCES = 32
"""References that are followed in a row before they are taken for a cycle."""

_MOST_ADDED = YAML_VALUES.most // 10  # values that take the place of references


class Spreading:
    """Replaces references where OpenAPI has none by what they lead to, as bundlers do."""

    def __init__(self, root: dict[str, Any], references: References, losses: Losses) -> None:
        self._root = root
        self._references = references
        self._losses = losses
        self._added = 0

    def spread_components(self, place: Position) -> None:
        """Spreads the references in place of components, to whose members other references lead."""
        is_there = place.key in self._root and (not is_misplaced(place) or self.spread(place))
        if is_there and isinstance(place.value, dict):
            for name, kind in MEMBERS["components"].items():
                if name in place.value and is_misplaced(place.below(name, kind)):
                    self.spread(place.below(name, kind))

    def spread(self, place: Position) -> bool:
        """Replaces a reference by the members that it leads to; tells whether that succeeded.

        Each member becomes a reference, so that references in it still resolve in the file where it stands.
        """
        reference, pointer, scope = place.value["$ref"], place.pointer, place.scope
        try:
            for _ in range(MAX_REFERENCES):
                pointer = self._references.resolve(reference, scope, pointer).pointer
                found = value_at(self._root, pointer)
                if not is_reference(found):
                    break
                reference, scope = found["$ref"], self._references.scope_of(pointer)
        except Unresolved as error:
            self._losses.drop("dangling-reference", place, str(error))
            return False
        value = _spread(found, pointer, place.kind) if self._may_add(found) else None
        if value is None:
            message = (
                f"$ref {reference!r} leads to what is not of kind {place.kind}, or is too much"
            )
            self._losses.drop("dangling-reference", place, message)
            return False
        self._note(place)
        names = value if isinstance(value, dict) else range(len(value))
        self._references.rewritten |= {place.below(name, "").pointer for name in names}
        siblings = {name: it for name, it in place.value.items() if name != "$ref"}
        place.replace({**value, **siblings} if isinstance(value, dict) else value)
        return True

    def copy_example(self, place: Position) -> None:
        """Replaces an example that is only a reference, and leads somewhere, by a copy of its target."""
        if is_reference(place.value) and len(place.value) == 1:
            with suppress(Unresolved):
                target = self._references.resolve(place.value["$ref"], place.scope, place.pointer)
                example = value_at(self._root, target.pointer)
                if self._may_add(example):
                    self._note(place)
                    place.replace(deepcopy(example))

    def _may_add(self, value: Any) -> bool:
        """Counts the values that references multiply; False once they are far more than documents have."""
        if self._added <= _MOST_ADDED:
            self._added += size_of(value, _MOST_ADDED)
        return self._added <= _MOST_ADDED

    def _note(self, place: Position) -> None:
        message = f"OpenAPI has no reference here; read as what {place.value['$ref']!r} leads to."
        self._losses.note("misplaced-reference", place, message)


def is_reference(value: Any) -> bool:
    """Tells whether a value is an object with a ``$ref``."""
    return isinstance(value, dict) and isinstance(value.get("$ref"), str)


def is_misplaced(place: Position) -> bool:
    """Tells whether a position holds a reference where OpenAPI requires the object or list itself."""
    kind = place.kind
    is_recursive = "encoding" in kind  # spreading could go on for ever
    may_be = is_compound(kind) and kind not in REFERENCED and not is_recursive
    return may_be and is_reference(place.value)


def _spread(value: Any, pointer: str, kind: str) -> Any:
    """Returns a copy whose members are references to those of a value; None if it is not of the kind.

    Args:
        value: The value that the reference leads to.
        pointer: Pointer of the value.
        kind: The kind that OpenAPI expects in place of the reference.
    """
    if not isinstance(value, list if kind[0] == "[" else dict):
        return None
    kinds = MEMBERS.get(kind) or {}
    inner = MAPS.get(kind) or kind[1:-1]
    members = enumerate(value) if isinstance(value, list) else value.items()
    made: dict[Any, Any] = {}
    for name, member in members:
        its = kinds.get(str(name), "any") if kinds else inner
        if not is_compound(its):
            made[name] = deepcopy(member)
        elif isinstance(member, dict | list) or (its == "schema" and isinstance(member, bool)):
            made[name] = {"$ref": as_reference(f"{pointer}/{escape(str(name))}")}
        else:
            return None
    return list(made.values()) if isinstance(value, list) else made


def _read(path: Path, name: str, uri: str) -> Any:
    """Reads a file below the document's directory.

    Raises:
        Unresolved: The file cannot be read, or is reached by a symbolic link.
    """
    try:
        is_linked, is_file = path.resolve() != path, path.is_file()
    except (OSError, RuntimeError, ValueError):  # too long, a link to itself, or with a NUL
        is_linked = is_file = False
    if is_linked:
        msg = f"$ref {uri!r} leads through a symbolic link, which understudy does not follow"
        raise Unresolved(msg)
    if not is_file:
        msg = f"$ref {uri!r}: there is no file {name!r} in the document's directory"
        raise Unresolved(msg)
    try:
        return unshared(read_yaml(path))
    except StartupError as error:
        msg = f"$ref {uri!r}: {str(error).rstrip('.')}"
        raise Unresolved(msg) from error


def unshared(value: Any) -> Any:
    """Returns a deep copy of a document with strings as keys, in which no two places share an object.

    YAML aliases share objects, and mending one place would change the others.
    """
    if isinstance(value, dict):
        return {str(key): unshared(member) for key, member in value.items()}
    if isinstance(value, list):
        return [unshared(item) for item in value]
    return value


def _indexed(content: Any, file: str, base: str) -> _Index:
    identifiers: dict[str, str] = {}
    anchors: dict[str, list[str]] = {}
    pending = [(file, content, base)] if _has_identifiers(content) else []
    while pending:
        pointer, value, base = pending.pop()
        if isinstance(value, dict):
            if isinstance(value.get("$id"), str):
                base = urljoin(base, value["$id"])
                identifiers.setdefault(base.rstrip("#"), pointer)
            for keyword in _ANCHORS:
                if isinstance(value.get(keyword), str):
                    anchors.setdefault(value[keyword], []).append(pointer)
        members = value.items() if isinstance(value, dict) else enumerate(value)
        pending += [
            (f"{pointer}/{escape(str(key))}", below, base)
            for key, below in members
            if isinstance(below, dict | list)
        ]
    return _Index(identifiers, anchors)


def _has_identifiers(content: Any) -> bool:
    """Tells whether any schema has an ``$id`` or anchor. Few have, and indexing them is slow."""
    return any(
        "$id" in it or "$anchor" in it or "$dynamicAnchor" in it for it in objects_in(content)
    )


def _relative(path: str, referrer: str) -> PurePosixPath:
    """Returns a file's path relative to the document's directory.

    Raises:
        Unresolved: The path leads out of the directory.
    """
    joined = PurePosixPath(normpath(PurePosixPath(referrer).parent / path))
    if joined.is_absolute() or joined.parts[:1] == ("..",) or "\0" in path:
        msg = (
            f"$ref {path!r} leads out of the document's directory, where understudy reads nothing; "
            "bundle the document into one file"
        )
        raise Unresolved(msg)
    return joined


def _ancestors(pointer: str) -> Iterator[str]:
    """Yields a pointer and the pointers of its parents, up to but without the root."""
    while "/" in pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]


def _is_within(pointer: str, around: str) -> bool:
    return pointer == around or pointer.startswith(f"{around}/")


def _file_of(pointer: str) -> str:
    return "/".join(pointer.split("/", 3)[:3]) if pointer.startswith(f"#/{FILES}/") else ROOT
