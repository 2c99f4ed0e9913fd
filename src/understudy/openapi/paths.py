"""Looks up the methods of a path, suggests similar paths, and builds the routes for Connexion.

Connexion's own 405 names only the first route's method, and its 404 gives no hint.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import count, zip_longest
from types import MappingProxyType
from typing import Any, Final

from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation
from understudy.openapi.path_matching import (
    ENCODED_SLASH,
    PathMatcher,
    decoded_path,
    specificity,
    takes_slash,
)

NO_ALIASES: Final[Mapping[str, Sequence[Operation]]] = MappingProxyType({})

_REMEMBERED = 4096  # paths whose base path is cached

LONGEST_COMPARED = 200
"""Longest path, in characters, that is compared with templates, as that takes quadratic time."""


class Paths:
    """The path templates that are served at one address.

    Args:
        apis: Base path to the operations under it.
        optional: The base path that a request may omit, or replace by that of another server.
        aliases: Base paths of the document's other servers to the operations that ``optional`` serves
            for them.
    """

    def __init__(
        self,
        apis: Mapping[str, Sequence[Operation]],
        optional: str = "",
        aliases: Mapping[str, Sequence[Operation]] = NO_ALIASES,
    ) -> None:
        templates: dict[str, set[str]] = {}
        self._optional = optional
        own = apis.get(optional, ())
        self._segments = {_first_segment(decoded_path(o.path)) for o in own}
        for base_path, operations in apis.items():
            for operation in sorted(operations, key=lambda it: specificity(it.path)):
                template = base_path + decoded_path(operation.path)
                methods = templates.setdefault(template, set())
                methods |= {"GET", "HEAD"} if operation.method == "GET" else {operation.method}
        self._templates = list(templates)
        self._matcher = PathMatcher((text, (text, its)) for text, its in templates.items())
        bases = {optional: own, **aliases, "": own}
        self._bases = [
            (base, PathMatcher((o.path, o) for o in group)) for base, group in bases.items()
        ]
        # then the first segment alone does not tell whether a request omits the base path
        unclear = self._segments & {"", _first_segment(optional)} if optional else set()
        self._is_unclear = bool(aliases or unclear)
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._rebased)

    def based(self, path: str) -> str:
        """Returns a path with the base path, which the request may have omitted or replaced."""
        if not self._is_unclear:
            return self._optional + path if _first_segment(path) in self._segments else path
        rebased = self._rebased if len(path) > LONGEST_COMPARED else self._remembered
        return rebased(path)

    def _rebased(self, path: str) -> str:
        for base, matcher in self._bases:
            rest = path.removeprefix(base) or "/"
            is_below = rest.startswith("/") and (rest != path or not base)
            if is_below and matcher.find(rest) is not None:
                return self._optional + rest
        return path

    def template(self, path: str) -> str | None:
        """Returns the template, base path included, that a path fits; None if there is none."""
        found = self._matcher.find(path)
        return None if found is None else found[0][0]

    def allowed(self, path: str) -> tuple[str, ...]:
        """Returns the methods for the Allow header of a path (RFC 9110, 10.2.1); empty: no such path."""
        return tuple(sorted({it for (_, methods), _ in self._matcher.all(path) for it in methods}))

    def hint(self, path: str) -> str:
        """Returns ``; did you mean …?`` for an unknown path, or an empty text.

        Extra slashes and an extra or mistyped base path are removed first. Otherwise the closest
        template is suggested, provided that it resembles the path in a literal segment below the
        base path.
        """
        if len(path) > LONGEST_COMPARED or path.startswith("/__"):  # a path of the mock's own
            return ""
        slashed = "/" + "/".join(filter(None, path.split("/")))
        rest = self._below_base(slashed)
        ends = [f"{self._optional}/{end}" for end in _ends(slashed)]
        for meant in (slashed, rest, *ends):
            found = meant != path and self.template(self.based(meant))
            if found and (meant not in ends or not self._below_base(found).startswith("/{")):
                return f"; did you mean {meant!r}?"
        below = {template: self._below_base(template) for template in reversed(self._templates)}
        filled = {fill(it, rest): full for full, it in below.items() if _is_alike(it, rest)}
        close = get_close_matches(rest, list(filled), n=1)
        return f"; did you mean {filled[close[0]]!r}?" if close else ""

    def _below_base(self, path: str) -> str:
        rest = path.removeprefix(self._optional)
        return rest if rest.startswith("/") else path


def aliases(document: Document, operations: Sequence[Operation]) -> dict[str, list[Operation]]:
    """Returns the base paths of all servers but the first, each with its operations.

    Servers can be declared for the document, a path item or an operation (OpenAPI 3.0.3).
    """
    own, *others = document.base_paths or ("",)
    by_base = {base: list(operations) for base in others}
    for operation in operations:
        for base in operation.base_paths:
            if operation not in by_base.setdefault(base, []):
                by_base[base].append(operation)
    return {base: group for base, group in by_base.items() if base not in {"", own}}


def fill(template: str, path: str) -> str:
    """Returns a template with its parameters replaced by the path's segments, for comparison."""
    parts = zip_longest(template.split("/"), path.split("/"), fillvalue="")
    filled = [segment if "{" in part else part for part, segment in parts]
    return "/".join(filled[: template.count("/") + 1])


def _is_alike(template: str, path: str) -> bool:
    """Tells whether any literal segment of a template resembles the path's segment at its place."""
    pairs = zip(template.split("/")[1:], path.split("/")[1:], strict=False)
    named = [(part, segment) for part, segment in pairs if "{" not in part]
    return not named or any(get_close_matches(segment, [part]) for part, segment in named)


def _ends(path: str) -> list[str]:
    """Returns a path without its first segment, without its first two, and so on."""
    segments = path.split("/")[1:]
    return ["/".join(segments[start:]) for start in range(1, len(segments))]


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""


# Connexion refuses OpenAPI 3.1 and parts of 3.0, and converting schemas down fails on real documents.
# Routing needs only paths and methods, so Connexion gets a 3.0.3 skeleton with just those; validation
# and security use the original (``schemas``, ``server/access``).


def routing_id(operation: Operation) -> str:
    """Returns the operationId in the skeleton, which is unique even if the document's is not."""
    return f"{operation.method} {operation.path}"


def parameter_texts(path: str, texts: Sequence[str]) -> dict[str, str]:
    """Returns the texts of the path parameters by their names in the document.

    Args:
        path: The path template of the operation.
        texts: The texts that a ``PathMatcher`` found, in order.
    """
    names = _names(path)
    return {name: text.replace(ENCODED_SLASH, "/") for name, text in zip(names, texts, strict=True)}


def routed_texts(path: str, routed: Mapping[str, str]) -> dict[str, str]:
    """Returns the texts of the path parameters by their names in the document, from Connexion's."""
    return parameter_texts(path, [routed[_name(*it)] for it in enumerate(_names(path))])


@lru_cache(maxsize=1024)  # called for every request
def _names(path: str) -> Sequence[str]:
    names: list[str] = PATH_PARAMETER.findall(path)
    return names


def skeleton(operations: Sequence[Operation]) -> dict[str, Any]:
    """Returns a document that Connexion accepts, with the same paths and methods.

    The most specific paths come first, as Connexion tries them in order. Of operations with the same
    method and path only the first is included.
    """
    paths: dict[str, dict[str, Any]] = {}
    for operation in sorted(operations, key=lambda it: specificity(it.path)):
        methods = paths.setdefault(routed_path(operation), {})
        methods.setdefault(operation.method.lower(), _operation(operation))
    return {
        "openapi": "3.0.3",
        "info": {"title": "skeleton", "version": "0"},
        "paths": paths,
    }


def routed_path(operation: Operation) -> str:
    """Returns the path template of an operation in the skeleton, literal text decoded."""
    numbers = count()
    template = decoded_path(operation.path)
    return PATH_PARAMETER.sub(lambda match: f"{{{_name(next(numbers), match[1])}}}", template)


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "operationId": routing_id(operation),
        "parameters": [_path_parameter(*it) for it in enumerate(_names(operation.path))],
        "responses": {"default": {"description": "see the original"}},
    }


def _name(number: int, name: str) -> str:
    """Returns the skeleton's name of a path parameter; ``rest…`` marks one that takes slashes."""
    return f"rest{number}" if takes_slash(name) else f"p{number}"


def _path_parameter(number: int, name: str) -> dict[str, Any]:
    # with the format "path", Connexion lets a parameter contain slashes
    schema = {"type": "string", **({"format": "path"} if takes_slash(name) else {})}
    return {"name": _name(number, name), "in": "path", "required": True, "schema": schema}
