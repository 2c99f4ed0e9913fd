"""Matches request paths with path templates, for the mock and for verify alike.

Templates and paths are untrusted input, so matching does not backtrack: a regular expression for
``/{a}-{b}-{c}`` takes time cubic in the number of dashes in a path, and one for 20,000 templates
tries them one by one.
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
"""Replaces ``%2F`` in a decoded path, where ``/`` would end a segment. A Unicode noncharacter."""

_SLASH = re.compile("%2f", re.IGNORECASE)


def decoded_path(text: str) -> str:
    """Returns a path without percent-encoding, but with ``ENCODED_SLASH`` (RFC 3986, 2.2)."""
    return unquote(_SLASH.sub(ENCODED_SLASH, text)) if "%" in text else text


T = TypeVar("T")

Match = tuple[T, tuple[str, ...]]
"""The value registered for a template, and the texts of its parameters in their order."""


class PathMatcher(Generic[T]):
    """Maps path templates to values, and looks up the values of a path without backtracking.

    The templates form a tree of segments, and a path visits each node at most once. A parameter
    matches one or more characters without slash, unless its name marks it as the rest of a path.

    Args:
        templates: Path templates and their values, in order of precedence.
    """

    def __init__(self, templates: Iterable[tuple[str, T]]) -> None:
        self._root: _Node[T] = _Node()
        for rank, (template, value) in enumerate(templates):
            self._root.add(template, rank, value)

    def find(self, path: str) -> Match[T] | None:
        """Returns the match of the first template that fits a path, or None."""
        found = self._found(path)
        if not found:
            return None
        _, value, texts = found[0] if len(found) == 1 else min(found, key=_rank)
        return value, texts

    def all(self, path: str) -> list[Match[T]]:
        """Returns the matches of all templates that fit a path, in the order of the templates."""
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
"""The rank of a template, its value, and the texts of its parameters."""


def _rank(found: "_Found[T]") -> int:
    return found[0]


class _Node(Generic[T]):
    """A node of the tree, with a child for each form of the next segment.

    Attributes:
        literals: Children for segments without parameters, by text.
        whole: Child for a segment that is a single parameter.
        mixed: Children for segments of parameters and text, by the texts around the parameters.
        rests: Pattern, rank and value of templates whose next segment has a parameter with slashes.
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
        """Returns the child for a segment with these texts around its parameters; adds it if missing."""
        if len(literals) == 1:
            return self.literals.setdefault(literals[0], _Node())
        if literals == ("", ""):
            self.whole = self.whole or _Node()
            return self.whole
        return self.mixed.setdefault(literals, _Node())


def _segments(template: str) -> list[list[str]]:
    """Returns for each segment its texts, and at odd indexes the names of the parameters between.

    A slash in braces does not end a segment: ``{name=projects/*}``.
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
    """Returns the texts of a segment's parameters, earlier ones as long as possible; None: no match.

    Each literal is searched once, from the end: its rightmost occurrence leaves most characters to
    the parameters before it, so that trying another occurrence cannot succeed where this fails.
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
    """Compiles the end of a template whose parameters take slashes, by RE2, as it never backtracks."""
    patterns = []
    for segment in segments:
        names = ("(.+)" if takes_slash(name) else "([^/]+)" for name in segment[1::2])
        texts = (re2.escape(text.encode(errors="replace").decode()) for text in segment[::2])
        patterns.append("".join(chain.from_iterable(zip_longest(texts, names, fillvalue=""))))
    pattern: re.Pattern[str] = re2.compile("(?s)" + "/".join(patterns))
    return pattern


def specificity(template: str) -> tuple[tuple[int, int], ...]:
    """Returns a sort key by which templates with more literal text come first.

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
    """Tells whether a parameter takes the rest of a path, slashes included.

    OpenAPI has no such parameters, but documents of gateways mark them in their names: ``{proxy+}``,
    ``{+name}``, ``{path*}``, ``{name=projects/*}``.
    """
    return name.startswith("+") or name.endswith("+") or "*" in name
