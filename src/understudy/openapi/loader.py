"""Loads OpenAPI 3.0 to 3.2 documents with their overlays, and follows their references.

Each value is identified by its JSON pointer (RFC 6901), so that validators, messages and reports can
name the place in the document. References are not inlined: that fails on recursive schemas, and
loses the place.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from itertools import islice, product
from pathlib import Path
from posixpath import normpath
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote

import re2

from understudy.errors import StartupError
from understudy.limits import YAML_VALUES
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.diagnostics import Diagnostic, diagnostic
from understudy.openapi.grammar import MOCK_PATHS
from understudy.openapi.mending import mend
from understudy.openapi.operation_mends import declare_path_queries, mend_operations
from understudy.openapi.pointers import escape, size_of, value_at
from understudy.openapi.references import FILES, MAX_REFERENCES, unshared
from understudy.openapi.swagger import converted
from understudy.openapi.yaml_files import beyond, read_yaml

_OVERLAY_VERSIONS = ("1.0.", "1.1.")


def apply_overlays(root: dict[str, Any], overlays: Sequence[Path]) -> list[Diagnostic]:
    """Applies overlay files to a document in place, in their order.

    Returns:
        A loss for each action whose target matches nothing.

    Raises:
        StartupError: A file is not an overlay, or adds too much; the text names file and action.
    """
    return [unmatched for path in overlays for unmatched in _applied(root, path)]


def _applied(root: dict[str, Any], path: Path) -> list[Diagnostic]:
    unmatched = []
    added = 0
    for number, action in enumerate(_actions(path)):
        place = f"{path}: action {number + 1}"
        if "target" not in action:
            msg = f"{place} has no target."
            raise StartupError(msg)
        matches = _find(action["target"], root, place)
        if not matches:
            message = f"{place}: target {action['target']!r} matches nothing."
            unmatched.append(diagnostic("unmatched-overlay-target", "#", message))
        elif action.get("remove") is True:
            _remove(matches, place)
        else:
            value = _value(action, root, place)
            added += len(matches) * size_of(value, YAML_VALUES.most)
            if added > YAML_VALUES.most:  # each action may double what the next one finds
                raise beyond(YAML_VALUES, path)
            for match in matches:
                _update(match, value, place)
    return unmatched


def _actions(path: Path) -> list[dict[str, Any]]:
    content = unshared(read_yaml(path))
    version = content.get("overlay") if isinstance(content, dict) else None
    if not (isinstance(version, str) and version.startswith(_OVERLAY_VERSIONS)):
        found = (
            "it has no member `overlay`" if version is None else f"it says overlay: {version!r:.80}"
        )
        msg = f"{path} is not an overlay: {found}; write overlay: 1.0.0 or 1.1.0."
        raise StartupError(msg)
    actions = content.get("actions")
    if not isinstance(actions, list) or not all(isinstance(action, dict) for action in actions):
        msg = f"{path}: actions must be a list of objects with a target."
        raise StartupError(msg)
    return actions


def _find(target: Any, root: dict[str, Any], place: str) -> list[Any]:
    """Returns the matches of a JSONPath expression (RFC 9535).

    Raises:
        StartupError: The text is not a JSONPath expression, or matches too much.
    """
    import jsonpath  # noqa: PLC0415 - takes 40 ms, and most runs have no overlay

    try:
        environment = jsonpath.JSONPathEnvironment(strict=True)
        functions = {"match": re2.fullmatch, "search": re2.search}
        environment.function_extensions |= {n: _linear_match(it) for n, it in functions.items()}
        found = list(islice(environment.compile(target).finditer(root), YAML_VALUES.most + 1))
    except (jsonpath.JSONPathError, *_UNEXPECTED) as error:
        # Not the text of the error, which also draws the position and fails at an empty target.
        reason = getattr(error, "message", None) or error
        msg = f"{place}: target {target!r} is not a JSONPath (RFC 9535): {reason}."
        raise StartupError(msg) from error
    if len(found) > YAML_VALUES.most:
        raise beyond(YAML_VALUES, Path(f"{place}: target {target!r}"))
    return found


_UNEXPECTED: Final = (TypeError, AttributeError, ValueError, OverflowError, RecursionError)
"""Errors that the library raises at odd expressions, such as numbers of 5,000 digits or deep nesting."""


def _linear_match(compare: Callable[..., Any]) -> Any:
    """Returns a filter function that matches in linear time, by RE2 (RFC 9535, 2.4.6 and 2.4.7).

    Args:
        compare: ``re2.fullmatch`` or ``re2.search``.
    """
    from jsonpath.function_extensions import ExpressionType, FilterFunction  # noqa: PLC0415 - as above

    options = re2.Options()
    options.log_errors = False

    class LinearMatch(FilterFunction):
        arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 - as jsonpath has them
        return_type = ExpressionType.LOGICAL

        def __call__(self, value: object, pattern: object) -> bool:
            if not isinstance(value, str) or not isinstance(pattern, str):
                return False
            with suppress(re2.error):
                return compare(pattern, value, options=options) is not None
            return False

    return LinearMatch()


def _value(action: dict[str, Any], root: dict[str, Any], place: str) -> Any:
    """Returns the value that an action merges into its targets: ``update``, or ``copy`` (Overlay 1.1)."""
    if "copy" not in action:
        if "update" in action:
            return action["update"]
        msg = f"{place} has neither update nor remove: true."
        raise StartupError(msg)
    sources = _find(action["copy"], root, place)
    if len(sources) != 1:
        msg = f"{place}: copy {action['copy']!r} must match one value, and matches {len(sources)}."
        raise StartupError(msg)
    return sources[0].obj


def _remove(matches: list[Any], place: str) -> None:
    for match in reversed(matches):  # the last first, so that the other indexes stay valid
        if match.parent is None:
            msg = f"{place} would remove the whole document."
            raise StartupError(msg)
        key = match.parts[-1]
        holder = match.parent.obj
        if isinstance(holder, list) or key in holder:
            del holder[key]


def _update(match: Any, value: Any, place: str) -> None:
    target = match.obj
    if isinstance(target, dict) and not isinstance(value, dict):
        msg = f"{place}: {match.path} is an object, and update is not."
        raise StartupError(msg)
    if isinstance(target, dict):
        _merge(target, value)
    elif isinstance(target, list):
        target += deepcopy(value if isinstance(value, list) else [value])
    else:
        match.parent.obj[match.parts[-1]] = deepcopy(value)


def _merge(target: dict[str, Any], update: dict[str, Any]) -> None:
    """Merges objects recursively; lists are joined, and anything else is replaced."""
    for name, value in update.items():
        present = target.get(name)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(present, value)
        elif isinstance(present, list) and isinstance(value, list):
            target[name] = [*present, *deepcopy(value)]
        else:
            target[name] = deepcopy(value)


MOST_VALUES = 16
"""Largest number of URLs per server, since variables with many values multiply."""

_VARIABLE = re.compile(r"\{([^{}]*)\}")  # of a server's URL
_SLASHES = re.compile("/{2,}")


def base_paths(servers: Any) -> tuple[str, ...]:
    """Returns the paths of a list of servers, each without a trailing slash.

    A relative URL is resolved against the root, where the mock publishes the document.

    Args:
        servers: The value of ``servers``; invalid entries are skipped.
    """
    return tuple(dict.fromkeys(_path(url) for url in server_urls(servers)))


def server_urls(servers: Any) -> tuple[str, ...]:
    """Returns the URLs of a list of servers, one for each combination of declared variable values.

    Args:
        servers: The value of ``servers``; invalid entries are skipped.
    """
    listed = servers if isinstance(servers, list) else []
    urls = (url for server in listed if isinstance(server, dict) for url in _urls(server))
    return tuple(dict.fromkeys(urls))


def _urls(server: Mapping[str, Any]) -> Iterator[str]:
    """Yields the URLs of a server, first the one with all default values."""
    url = str(server.get("url", "/"))
    variables = server.get("variables")
    declared = variables if isinstance(variables, dict) else {}
    names = list(dict.fromkeys(_VARIABLE.findall(url)))
    values = [_values(name, declared.get(name)) for name in names]
    for chosen in islice(product(*values), MOST_VALUES):
        texts = dict(zip(names, chosen, strict=True))
        yield _VARIABLE.sub(lambda match, texts=texts: texts[match[1]], url)  # type: ignore[misc]  # bound per loop


def _values(name: str, variable: Any) -> list[str]:
    """Returns the values of a server variable, its default first; its name if it declares no value."""
    declared = variable if isinstance(variable, dict) else {}
    listed = declared.get("enum")
    default = declared.get("default", next(iter(listed or ()), name))
    return list(dict.fromkeys(map(str, (default, *(listed or ())))))


def _path(url: str) -> str:
    text = re.split("[?#]", url, maxsplit=1)[0]
    scheme, separator, rest = text.partition("//")
    is_absolute = bool(separator) and (not scheme or scheme.endswith(":"))
    path = f"/{rest.partition('/')[2]}" if is_absolute else f"/{text}"
    return _SLASHES.sub("/", normpath(unquote(path))).rstrip("/")


_SWAGGER = "2.0"
_VERSIONS = ("3.0.", "3.1.", "3.2.")
_SHORT_VERSIONS: Final = {
    "openapi": {"3": "3.0.0", "3.0": "3.0.0", "3.1": "3.1.0", "3.2": "3.2.0"},
    "swagger": {"2": _SWAGGER, "2.0": _SWAGGER},
}
"""Versions as they are written short or as a number, to the ones that are meant."""

LITERALS = frozenset({"example", "examples", "default", "enum", "const"})
"""Keywords whose values are data, in which nothing is a schema or a reference."""

NAME_MAPS = frozenset(
    (
        "properties patternProperties dependentSchemas definitions $defs schemas responses"
        " parameters headers requestBodies callbacks links"
    ).split()
)
"""Keywords of objects with author-chosen names: a member called ``type`` there is not a keyword."""


class Node(NamedTuple):
    """A value in the document, and its JSON pointer (RFC 6901)."""

    pointer: str
    value: Any

    def child(self, *steps: str | int) -> "Node | None":
        """Returns the descendant at the given steps, or None if a step does not exist."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """An OpenAPI document after mending. Compared and hashed by identity, so that caches can use it.

    Attributes:
        path: The file that it was read from.
        raw: Its content, as valid OpenAPI; never modified.
        losses: The parts that could not be read as written.
        results: Cache: function to its result for this document (``once_per_document``).
    """

    path: Path
    raw: dict[str, Any]
    losses: tuple[Diagnostic, ...] = ()
    results: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def is_30(self) -> bool:
        """True if its schemas are in the dialect of OpenAPI 3.0, and not in JSON Schema 2020-12."""
        return str(self.raw["openapi"]).startswith("3.0")

    @property
    def base_path(self) -> str:
        """Path of its first server, without a trailing slash; empty if it declares none."""
        return next(iter(self.base_paths), "")

    @property
    def base_paths(self) -> tuple[str, ...]:
        """Paths of all its servers, without trailing slashes; empty if it declares none."""
        return base_paths(self.raw.get("servers"))

    @property
    def files(self) -> tuple[Path, ...]:
        """The document's file, and the files that it refers to."""
        return (self.path, *(self.path.parent / name for name in self.raw.get(FILES, {})))

    @property
    def root(self) -> Node:
        """The whole document."""
        return Node("#", self.raw)

    def follow(self, node: Node) -> Node:
        """Returns the node that a reference leads to, or the node itself if it is not a reference.

        Raises:
            StartupError: The reference leads nowhere, or in a circle.
        """
        for _ in range(MAX_REFERENCES):
            if not (isinstance(node.value, dict) and isinstance(node.value.get("$ref"), str)):
                return node
            node = self._target(node)
        msg = f"{self.path}: {node.pointer}: the reference leads back to itself."
        raise StartupError(msg)

    def members(self, node: Node, *steps: str) -> Iterator[tuple[str, Node]]:
        """Yields name and node of the members of an object below a node, with references followed."""
        listed = node.child(*steps)
        for name, member in () if listed is None else self.follow(listed).children():
            yield str(name), self.follow(member)

    def _target(self, node: Node) -> Node:
        pointer = unquote(node.value["$ref"])  # mending has made every reference such a pointer
        try:
            return Node(pointer, value_at(self.raw, pointer))
        except LookupError as error:
            msg = f"{self.path}: {node.pointer}: $ref {pointer!r} leads nowhere."
            raise StartupError(msg) from error


Result = TypeVar("Result")


def once_per_document(compute: Callable[[Document], Result]) -> Callable[[Document], Result]:
    """Makes a function compute its result once for each document, which keeps it as long as it lives."""

    @wraps(compute)
    def known(document: Document) -> Result:
        if compute not in document.results:
            document.results[compute] = compute(document)
        result: Result = document.results[compute]
        return result

    return known


def bundled_document(name: str) -> Document:
    """Returns a document of this package by its file's name; read again only once it has changed."""
    path = openapi_directory() / name
    return _bundled(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)  # there are five
def _bundled(path: Path, _changed: int) -> Document:
    return load(path)


def load(path: Path, overlays: Sequence[Path] = ()) -> Document:
    """Loads a document, and the files beside it that it refers to.

    Args:
        path: A YAML or JSON file.
        overlays: Overlay files that change it first, in their order.

    Raises:
        StartupError: A file cannot be read, or the document is not Swagger 2.0 or OpenAPI 3.0 to 3.2.
    """
    repeated: list[str] = []
    document = _read(read_yaml(path, repeated), path, overlays, files_of=path)
    losses = (diagnostic("duplicate-key", "#", message) for message in repeated)
    return replace(document, losses=(*losses, *document.losses))


def document_of(content: Any, path: Path) -> Document:
    """Returns a document with parsed content, without reading the files that it refers to.

    Args:
        content: The parsed YAML or JSON.
        path: The name of the document in messages.

    Raises:
        StartupError: The content is not Swagger 2.0 or OpenAPI 3.0 to 3.2.
    """
    return _read(content, path, (), files_of=None)


def _read(content: Any, path: Path, overlays: Sequence[Path], files_of: Path | None) -> Document:
    raw = unshared(content)
    if not isinstance(raw, dict):
        msg = f"{path} is not an OpenAPI document: its top level is not an object."
        raise StartupError(msg)
    losses = apply_overlays(raw, overlays)
    losses += _lengthened(raw)
    if raw.get("swagger") == _SWAGGER:
        raw = converted(raw)
        message = "Swagger 2.0 is converted to OpenAPI 3.0; pointers are of the result."
        losses.append(diagnostic("converted-version", "#", message))
    version = raw.get("openapi")
    if not (isinstance(version, str) and version.startswith(_VERSIONS)):
        raise _unread(path, raw)
    mended = mend(raw, files_of)
    declare_path_queries(raw)
    mend_operations(raw, mended)
    return Document(path, raw, (*losses, *mended.diagnostics, *_taken(raw)))


def _lengthened(raw: dict[str, Any]) -> Iterator[Diagnostic]:
    """Writes a shortened version in full, and yields a loss for it."""
    for name, meant in _SHORT_VERSIONS.items():
        version = raw.get(name)
        full = meant.get(str(version))
        if full is not None and full != version:
            raw[name] = full
            message = f"version {version!r} is read as {full!r}."
            yield diagnostic("converted-value", f"#/{name}", message)


def _taken(raw: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yields a loss for each path that the mock serves itself; below a base path there are none."""
    for path in raw.get("paths", {}) if not any(base_paths(raw.get("servers"))[:1]) else ():
        taken = "/".join(path.split("/", 2)[:2])
        if taken in MOCK_PATHS:
            message = f"a mock has paths of its own below {taken}; declare a server with a path, such as /v1."
            yield diagnostic("taken-path", f"#/paths/{escape(path)}", message)


def _unread(path: Path, raw: Mapping[str, Any]) -> StartupError:
    """Returns the error for a document whose version is missing or not supported."""
    if not {"swagger", "openapi"} & set(raw):
        return StartupError(
            f"{path} has no member `openapi` or `swagger`; is this an OpenAPI document?"
        )
    named = "swagger" if "swagger" in raw else "openapi"
    return StartupError(
        f"{path} says {named}: {raw.get(named)!r}; understudy reads OpenAPI 3.0.x, 3.1.x and 3.2.x, "
        "and Swagger 2.0."
    )
