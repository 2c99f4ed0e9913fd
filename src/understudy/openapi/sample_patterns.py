"""Makes texts that match a regular expression within bounds of length.

``rstr`` walks the expression and asks a random number generator for each choice; that generator
decides here how often something is repeated. Candidates are tried by whoever has the whole schema,
so a candidate may be wrong: expressions can look around themselves, and may be several at once.
"""

import re
import string
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from random import Random  # noqa: TID251 - seeded by the caller
from typing import Any, Final

from understudy.limits import SAMPLE_CHARACTERS

_TRIES: Final = 6
_USUAL_REPEATS: Final = 4
"""Repeats beyond the fewest, where no length asks for more."""

_PROPERTIES: Final = {
    "L": string.ascii_letters,
    "Letter": string.ascii_letters,
    "Ll": string.ascii_lowercase,
    "Lu": string.ascii_uppercase,
    "N": string.digits,
    "Nd": string.digits,
    "Number": string.digits,
    "P": "!,.:;?",
    "Punctuation": "!,.:;?",
    "S": "+<=>",
    "Z": " ",
    "Zs": " ",
}
"""Unicode property to characters that have it."""

_TOKEN = re.compile(
    r"\\(?P<negation>[pP])\{(?P<property>[^}]*)\}|\(\?<(?P<name>[A-Za-z_]\w*)>|\\k<(?P<back>\w+)>"
    r"|\\(?P<identity>[^\WdDwWsSbBtrnvfxuaAzZ0-9_])|\\.|(?P<open>\[\^?)|(?P<close>\])|(?P<pair>&&|--|\|\||~~)",
    re.DOTALL,
)


def matching(
    pattern: str, seed: str, shortest: int = 0, longest: int | None = None
) -> Iterator[str]:
    """Yields texts that should match a pattern, those of a length within the bounds first.

    Args:
        pattern: A regular expression of ECMA-262.
        seed: The same seed gives the same texts.
        shortest: Fewest characters.
        longest: Most characters; None for no such bound.

    Raises:
        LimitExceeded: The pattern requires more characters than a response may hold.
    """
    readable = _in_python(pattern)
    others: list[str] = []
    for text in chain(_texts(readable, seed, shortest), _without_looking(readable, seed, shortest)):
        if text and shortest <= len(text) and (longest is None or len(text) <= longest):
            yield text
        else:
            others.append(text)
    for text in dict.fromkeys(others):
        # an expression without anchors lets anything stand beside the match
        yield from (text, text.ljust(shortest, "a"), text.rjust(shortest, "a"), text[:longest])


def _texts(pattern: str, seed: str, shortest: int) -> Iterator[str]:
    if shortest == 0:
        yield _drawn(pattern, _Repeats(seed, _USUAL_REPEATS))
    fewest = len(_drawn(pattern, _Repeats(seed, 0)))
    growth = len(_drawn(pattern, _Repeats(seed, 1, is_exact=True))) - fewest
    missing = max(shortest - fewest, 0)
    SAMPLE_CHARACTERS.check(missing)
    repeats = -(-missing // growth) if growth > 0 else 0
    for attempt in range(_TRIES):
        for more in (repeats + attempt, max(repeats - attempt, 0)):
            yield _drawn(pattern, _Repeats(f"{seed} {attempt}", more, is_exact=True))
        yield _drawn(pattern, _Repeats(f"{seed} {attempt}", 2 * repeats + attempt))


def _without_looking(pattern: str, seed: str, shortest: int) -> Iterator[str]:
    """Yields texts for what an expression takes apart from where it looks around itself."""
    around = _LOOKAROUND.findall(pattern)
    if around:
        counts = [int(number) for number in re.findall(r"\{([0-9]{1,4})", "".join(around))]
        yield from _texts(_LOOKAROUND.sub("", pattern), seed, max([shortest, *counts]))


_LOOKAROUND = re.compile(r"\(\?<?[=!](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)", re.DOTALL)
"""Matches a group that looks around, with one level of groups in it."""


def matches(pattern: str, text: str) -> bool:
    """Tells whether a pattern occurs in a text; an unreadable pattern occurs nowhere."""
    compiled = _compiled(pattern)
    return compiled is not None and compiled.search(text) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(_in_python(pattern))
    except (re.error, OverflowError):
        return None


def _drawn(pattern: str, repeats: "_Repeats") -> str:
    """Returns a text for a pattern; an empty one if Python does not read it as JavaScript does."""
    from rstr import Rstr  # noqa: PLC0415 - only where a pattern is

    try:
        text: str = Rstr(repeats).xeger(pattern)
    except (re.error, KeyError, IndexError, OverflowError):
        return ""
    return text


class _Repeats(Random):
    """Decides how often something is repeated, and prefers letters and digits among characters.

    Args:
        seed: The same seed gives the same choices.
        more: Repeats beyond the fewest.
        is_exact: Whether so many always, and not up to so many.
    """

    def __init__(self, seed: str, more: int, *, is_exact: bool = False) -> None:
        super().__init__(seed)
        self._more = more
        self._is_exact = is_exact
        self._choices = 0

    def __new__(cls, *_: Any, **__: Any) -> "_Repeats":
        """Makes the generator; ``Random`` would take the arguments for a seed of its own."""
        return super().__new__(cls)

    def randint(self, a: int, b: int) -> int:
        """Returns a number of repeats between two, both included."""
        most = max(a, min(b, a + self._more))
        SAMPLE_CHARACTERS.check(a)
        return most if self._is_exact else super().randint(a, most)

    def choice(self, seq: Any) -> Any:
        """Returns one item; of characters one that can be read, in an order that never differs."""
        self._choices += 1
        SAMPLE_CHARACTERS.check(self._choices)
        if not isinstance(seq[0], str):
            return super().choice(seq)
        return super().choice(_readable("".join(seq)))


@lru_cache(maxsize=256)
def _readable(characters: str) -> list[str]:
    """Returns the letters and digits among characters, or else what can be seen, in their order."""
    readable = [it for it in characters if it.isascii() and it.isalnum()]
    visible = readable or [it for it in characters if it.isprintable()]
    return sorted(visible or characters)


@lru_cache(maxsize=1024)
def _in_python(pattern: str) -> str:
    """Returns a pattern with what ECMA-262 alone has in Python's notation."""
    in_class = False

    def rewritten(match: re.Match[str]) -> str:
        nonlocal in_class
        if match["negation"]:
            return _property(match["property"], in_class=in_class, is_negated=match[1] == "P")
        if match["open"]:
            text = match[0] if not in_class else "\\["
            in_class = True
            return text
        if match["pair"] and in_class:
            return f"{match[0][0]}\\{match[0][0]}"  # Python keeps pairs for sets of its own
        if match["close"]:
            in_class = False
        if match["name"] and not in_class:
            return f"(?P<{match['name']}>"
        if match["back"] and not in_class:
            return f"(?P={match['back']})"
        return match["identity"] or match[0]

    return _TOKEN.sub(rewritten, pattern)


def _property(name: str, *, in_class: bool, is_negated: bool) -> str:
    key = name.rpartition("=")[2]
    members = re.escape(_PROPERTIES.get(key, string.ascii_letters))
    if in_class:
        return "-" if is_negated else members
    return f"[^{members}]" if is_negated else f"[{members}]"
