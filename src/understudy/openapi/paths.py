"""Matches paths with path templates: the one matcher, for the mock and for its judge.

The mock is routed by Connexion, whose 405 names only the first route's method and whose 404 names
nothing; what a path allows, and what was probably meant, is found out here.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation

NO_ALIASES: Final[Mapping[str, Sequence[Operation]]] = MappingProxyType({})

_REMEMBERED = 4096

LONGEST_COMPARED = 200
"""Characters of a path that is compared with templates: that takes the square of their number."""


ENCODED_SLASH: Final = "\ufdd0"
"""Stands for ``%2F`` in a decoded path, where ``/`` would end a segment; no text has this character."""

_SLASH = re.compile("%2f", re.IGNORECASE)


def decoded_path(text: str) -> str:
    """Returns a path without percent-encoding, but with ``ENCODED_SLASH`` (RFC 3986, 2.2)."""
    return unquote(_SLASH.sub(ENCODED_SLASH, text)) if "%" in text else text


class Paths:
    """The path templates that are served at one address.

    Args:
        apis: Base path to the operations under it.
        optional: The base path that a request may leave out, or replace by that of another server.
        aliases: Further base paths, of the other servers that a document names, to the operations
            that they serve under ``optional``.
    """

    def __init__(
        self,
        apis: Mapping[str, Sequence[Operation]],
        optional: str = "",
        aliases: Mapping[str, Sequence[Operation]] = NO_ALIASES,
    ) -> None:
        self._templates: dict[str, tuple[re.Pattern[str], set[str]]] = {}
        self._optional = optional
        own = apis.get(optional, ())
        self._segments = {_first_segment(decoded_path(o.path)) for o in own}
        for base_path, operations in apis.items():
            for operation in sorted(operations, key=lambda it: specificity(it.path)):
                template = base_path + decoded_path(operation.path)
                _, methods = self._templates.setdefault(template, (path_pattern(template), set()))
                methods |= {"GET", "HEAD"} if operation.method == "GET" else {operation.method}
        bases = {optional: own, **aliases, "": own}
        self._bases = [
            (base, [path_pattern(o.path) for o in group]) for base, group in bases.items()
        ]
        # with such a first segment, what comes first in a request is not told by it alone
        unclear = self._segments & {"", _first_segment(optional)} if optional else set()
        self._is_unclear = bool(aliases or unclear)
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._rebased)

    def based(self, path: str) -> str:
        """Returns the path with its base path, which the request may have left out."""
        if not self._is_unclear:
            return self._optional + path if _first_segment(path) in self._segments else path
        rebased = self._rebased if len(path) > LONGEST_COMPARED else self._remembered
        return rebased(path)

    def _rebased(self, path: str) -> str:
        for base, patterns in self._bases:
            rest = path.removeprefix(base) or "/"
            is_below = rest.startswith("/") and (rest != path or not base)
            if is_below and any(pattern.fullmatch(rest) for pattern in patterns):
                return self._optional + rest
        return path

    def template(self, path: str) -> str | None:
        """Returns the template that a path fits, its base path included."""
        matching = (
            text for text, (pattern, _) in self._templates.items() if pattern.fullmatch(path)
        )
        return next(matching, None)

    def allowed(self, path: str) -> tuple[str, ...]:
        """Returns the methods that a path takes; none where no template fits (RFC 9110, 10.2.1)."""
        matching = (
            methods for pattern, methods in self._templates.values() if pattern.fullmatch(path)
        )
        return tuple(sorted({method for methods in matching for method in methods}))

    def hint(self, path: str) -> str:
        """Returns ``; did you mean …?`` for a path that leads nowhere, or nothing."""
        if len(path) > LONGEST_COMPARED:
            return ""
        filled = {fill(template, path): template for template in reversed(self._templates)}
        close = get_close_matches(path, list(filled), n=1)
        return f"; did you mean {filled[close[0]]!r}?" if close else ""


def aliases(document: Document, operations: Sequence[Operation]) -> dict[str, list[Operation]]:
    """Returns the base paths of all servers but the first, and the operations under each.

    A server may be of the whole document, of a path or of one operation (OpenAPI 3.0.3, Path Item
    Object and Operation Object).
    """
    own, *others = document.base_paths or ("",)
    by_base = {base: list(operations) for base in others}
    for operation in operations:
        for base in operation.base_paths:
            if operation not in by_base.setdefault(base, []):
                by_base[base].append(operation)
    return {base: group for base, group in by_base.items() if base not in {"", own}}


def fill(template: str, path: str) -> str:
    """Returns a template with what a path has in its places, so that the two can be compared."""
    parts = zip_longest(template.split("/"), path.split("/"), fillvalue="")
    filled = [segment if "{" in part else part for part, segment in parts]
    return "/".join(filled[: template.count("/") + 1])


def specificity(template: str) -> tuple[tuple[int, int], ...]:
    """Returns a sort key of path templates: what a template has literally comes first.

    ``/pets/mine`` is matched before ``/pets/{id}`` (OpenAPI 3.0.3, Paths Object), and so is
    ``/pets/{id}.json``, whatever the order of declaration.
    """
    names = iter(PATH_PARAMETER.findall(template))
    segments = PATH_PARAMETER.sub("{}", template).split("/")
    key = []
    for segment in segments:
        literal = segment.replace("{}", "")
        takes_slashes = [takes_slash(next(names)) for _ in range(segment.count("{}"))]
        if any(takes_slashes):
            key.append((3, -len(segments)))
        else:
            key.append((0 if not takes_slashes else 1 if literal else 2, -len(literal)))
    return tuple(key)


def takes_slash(name: str) -> bool:
    """Tells whether a parameter takes the rest of a path, as gateways write in its name.

    OpenAPI has no such parameters, but ``{proxy+}``, ``{+name}``, ``{path*}`` and
    ``{name=projects/*}`` are common.
    """
    return name.startswith("+") or name.endswith("+") or "*" in name


def path_pattern(template: str) -> re.Pattern[str]:
    """Compiles a path template; each parameter is a group, and takes no slash unless it says so.

    Match with ``fullmatch``, so that a line end is not an end of the path.
    """
    parts = PATH_PARAMETER.split(template)
    patterns = ("(.+)" if takes_slash(name) else "([^/]+)" for name in parts[1::2])
    texts = map(re.escape, parts[::2])
    joined = chain.from_iterable(zip_longest(texts, patterns, fillvalue=""))
    return re.compile("".join(joined), re.DOTALL)


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""
