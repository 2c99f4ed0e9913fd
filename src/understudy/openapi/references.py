"""Resolves the references of a document to JSON pointers into one tree.

Each file that a reference names is read once and added below ``#/x-files``, so that its values have
pointers like all others. Only files below the document's directory are read; nothing is fetched.
"""

from collections.abc import Iterator, Mapping
from os.path import normpath
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from understudy.errors import StartupError
from understudy.limits import DOCUMENT_FILES
from understudy.openapi.pointers import ROOT, Scope, escape, objects_in, steps_of, value_at
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
    """

    def __init__(self, root: dict[str, Any], path: Path | None) -> None:
        self._root = root
        self._path = path and path.parent.resolve() / path.name
        self._indexes: dict[str, _Index] = {}
        self._self = str(root.get("$self", ""))

    def resolve(self, reference: str, scope: Scope, pointer: str) -> Destination:
        """Returns the target of a reference.

        Args:
            reference: The value of ``$ref``.
            scope: The scope in which the reference is resolved.
            pointer: Pointer of the object with the reference.

        Raises:
            Unresolved: The reference leads nowhere.
        """
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
