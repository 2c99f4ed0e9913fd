"""Matches paths with path templates: the one matcher, for the mock and for its judge.

Templates come from documents and paths from clients, and a document may have any number of either.
So nothing here backtracks: the regular expression of ``/{a}-{b}-{c}`` takes the cube of the dashes in
a path, and that of 20,000 templates tries one after the other.

The mock is routed by Connexion, whose 405 names only the first route's method and whose 404 names
nothing; what a path allows, and what was probably meant, is found out here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain, count, zip_longest
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar
from urllib.parse import unquote

import re2

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


T = TypeVar("T")

Match = tuple[T, tuple[str, ...]]
"""The value that a template leads to, and the texts of its parameters in their order."""


class PathMatcher(Generic[T]):
    """Finds what path templates lead to, in time that grows with the path and not with backtracking.

    The templates are a tree of segments, of which a path visits each node once at most. A parameter
    takes no slash and is not empty, unless its name says that it takes the rest of a path.

    Args:
        templates: Path templates and what each leads to, in the order in which they count.
    """

    def __init__(self, templates: Iterable[tuple[str, T]]) -> None:
        self._root: _Node[T] = _Node()
        for rank, (template, value) in enumerate(templates):
            self._root.add(template, rank, value)

    def find(self, path: str) -> Match[T] | None:
        """Returns the first that a path leads to, or None."""
        found = self._found(path)
        if not found:
            return None
        _, value, texts = found[0] if len(found) == 1 else min(found, key=_rank)
        return value, texts

    def all(self, path: str) -> list[Match[T]]:
        """Returns all that a path leads to, in their order."""
        return [(value, texts) for _, value, texts in sorted(self._found(path), key=_rank)]

    def _found(self, path: str) -> list["_Found[T]"]:
        segments = path.split("/")
        end = len(segments)
        found: list[_Found[T]] = []
        pending: list[tuple[_Node[T], int, tuple[str, ...]]] = [(self._root, 0, ())]
        while pending:
            node, index, texts = pending.pop()
            if index == end:
                found += [(rank, value, texts) for rank, value in node.ends]
                continue
            segment = segments[index]
            literal = node.literals.get(segment)
            if literal is not None:
                pending.append((literal, index + 1, texts))
            if node.whole is not None and segment:
                pending.append((node.whole, index + 1, (*texts, segment)))
            if node.mixed or node.rests:
                for literals, mixed in node.mixed.items():
                    between = _texts_between(literals, segment)
                    if between is not None:
                        pending.append((mixed, index + 1, texts + between))
                found += _of_rests(node, "/".join(segments[index:]), texts)
        return found


_Found = tuple[int, T, tuple[str, ...]]
"""The rank of a template, what it leads to, and the texts of its parameters."""


def _rank(found: "_Found[T]") -> int:
    return found[0]


class _Node(Generic[T]):
    """A place in the tree: the segments that may follow those before it.

    Attributes:
        literals: Segments without parameters.
        whole: Follows a segment that is one parameter.
        mixed: Segments of parameters and text, by the texts before, between and behind them.
        rests: Patterns of templates from a segment on that takes slashes.
        ends: Rank and value of the templates that end here.
    """

    __slots__ = ("ends", "literals", "mixed", "rests", "whole")

    def __init__(self) -> None:
        self.literals: dict[str, _Node[T]] = {}
        self.whole: _Node[T] | None = None
        self.mixed: dict[tuple[str, ...], _Node[T]] = {}
        self.rests: list[tuple[re.Pattern[str], int, T]] = []
        self.ends: list[tuple[int, T]] = []

    def add(self, template: str, rank: int, value: T) -> None:
        """Adds a template below this node."""
        node, segments = self, _segments(template)
        for number, texts in enumerate(segments):
            if any(map(takes_slash, texts[1::2])):
                node.rests.append((_rest_pattern(segments[number:]), rank, value))
                return
            node = node.below(tuple(texts[::2]))
        node.ends.append((rank, value))

    def below(self, literals: tuple[str, ...]) -> "_Node[T]":
        """Returns the node behind a segment, by the texts around its parameters."""
        if len(literals) == 1:
            return self.literals.setdefault(literals[0], _Node())
        if literals == ("", ""):
            self.whole = self.whole or _Node()
            return self.whole
        return self.mixed.setdefault(literals, _Node())


def _segments(template: str) -> list[list[str]]:
    """Returns of each segment the texts and, at odd places, the names of the parameters between them.

    A slash in braces ends no segment: ``{name=projects/*}``.
    """
    segments = [[""]]
    for number, part in enumerate(PATH_PARAMETER.split(template)):
        if number % 2:
            segments[-1] += [part, ""]
        else:
            first, *others = part.split("/")
            segments[-1][-1] += first
            segments += [[text] for text in others]
    return segments


def _texts_between(literals: Sequence[str], segment: str) -> tuple[str, ...] | None:
    """Returns the texts of a segment's parameters, each but the last as long as can be; or None.

    The literals are looked for from the end, each once: what is left of it is all that the
    parameters before can have, so no other place of it could do better.
    """
    first, *between, last = literals
    if not (segment.startswith(first) and segment.endswith(last)):
        return None
    end = len(segment) - len(last)
    texts = []
    for literal in reversed(between):
        place = segment.rfind(literal, len(first) + 1, end - 1)
        if place < 0:
            return None
        texts.append(segment[place + len(literal) : end])
        end = place
    if end <= len(first):
        return None
    return (segment[len(first) : end], *reversed(texts))


def _of_rests(node: _Node[T], rest: str, texts: tuple[str, ...]) -> Iterator["_Found[T]"]:
    for pattern, rank, value in node.rests:
        with suppress(UnicodeEncodeError):  # half a surrogate pair, which no request can send
            match = pattern.fullmatch(rest)
            if match:
                yield rank, value, texts + match.groups()


def _rest_pattern(segments: Iterable[Sequence[str]]) -> re.Pattern[str]:
    """Compiles the end of a template in which parameters take slashes; RE2 does not backtrack."""
    patterns = []
    for segment in segments:
        names = ("(.+)" if takes_slash(name) else "([^/]+)" for name in segment[1::2])
        texts = (re2.escape(text.encode(errors="replace").decode()) for text in segment[::2])
        patterns.append("".join(chain.from_iterable(zip_longest(texts, names, fillvalue=""))))
    pattern: re.Pattern[str] = re2.compile("(?s)" + "/".join(patterns))
    return pattern


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
        for base, matcher in self._bases:
            rest = path.removeprefix(base) or "/"
            is_below = rest.startswith("/") and (rest != path or not base)
            if is_below and matcher.find(rest) is not None:
                return self._optional + rest
        return path

    def template(self, path: str) -> str | None:
        """Returns the template that a path fits, its base path included."""
        found = self._matcher.find(path)
        return None if found is None else found[0][0]

    def allowed(self, path: str) -> tuple[str, ...]:
        """Returns the methods that a path takes; none where no template fits (RFC 9110, 10.2.1)."""
        return tuple(sorted({it for (_, methods), _ in self._matcher.all(path) for it in methods}))

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


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""


# Builds the 3.0.3 view of a document that Connexion routes on. Connexion refuses OpenAPI 3.1 and
# parts of 3.0, and converting schemas down fails on real documents. Routing needs no schemas:
# only paths and methods. That much is generated; validators and security come from the original
# (``schemas``, ``server/access``).


def routing_id(operation: Operation) -> str:
    """Returns the operationId that the skeleton gives: unique even where the document's is not."""
    return f"{operation.method} {operation.path}"


def parameter_texts(path: str, texts: Sequence[str]) -> dict[str, str]:
    """Returns the texts of the path parameters by the document's names.

    Args:
        path: The path template of the operation.
        texts: As a matcher found them, in their order.
    """
    names = _names(path)
    return {name: text.replace(ENCODED_SLASH, "/") for name, text in zip(names, texts, strict=True)}


def routed_texts(path: str, routed: Mapping[str, str]) -> dict[str, str]:
    """Returns the same of the texts that a router found, by the skeleton's names."""
    return parameter_texts(path, [routed[_name(*it)] for it in enumerate(_names(path))])


@lru_cache(maxsize=1024)
def _names(path: str) -> Sequence[str]:
    names: list[str] = PATH_PARAMETER.findall(path)
    return names


def skeleton(operations: Sequence[Operation]) -> dict[str, Any]:
    """Returns a document that Connexion accepts, with the same paths and methods.

    Its paths are in the order in which they are to be tried, as a router tries them so. Of operations
    with the same method and path only the first is in it.
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
    """Returns the skeleton's name of a path parameter; those that take slashes match elsewhere."""
    return f"rest{number}" if takes_slash(name) else f"p{number}"


def _path_parameter(number: int, name: str) -> dict[str, Any]:
    # the format by which Connexion has a parameter take slashes
    schema = {"type": "string", **({"format": "path"} if takes_slash(name) else {})}
    return {"name": _name(number, name), "in": "path", "required": True, "schema": schema}
