"""Matches paths with path templates: the one matcher, for the mock and for its judge.

Templates come from documents and paths from clients, and a document may have any number of either.
So nothing here backtracks: the regular expression of ``/{a}-{b}-{c}`` takes the cube of the dashes in
a path, and that of 20,000 templates tries one after the other.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from typing import Final, Generic, TypeVar
from urllib.parse import unquote

import re2

from understudy.openapi.grammar import PATH_PARAMETER

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
