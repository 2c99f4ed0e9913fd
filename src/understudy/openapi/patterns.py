r"""Rewrites regular expressions of schemas (ECMA-262; JSON Schema 2020-12, 6.3.3) in portable form.

Validators use Rust's engine, samples and cases use Python's, and neither accepts all of ECMA-262. So
a pattern is rewritten to the common subset: backreferences by number, control characters by code,
literal brackets and braces with a backslash. Notation of other languages that authors write anyway
(``/…/``, ``(?i)``, ``\A``, ``(?P<name>…)``) is translated.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

import jsonschema_rs

from understudy.limits import BACKTRACKED_CHARACTERS

_TOKEN = re.compile(
    r"""
      \\c(?P<control>[A-Za-z])
    | \\u\{(?P<code>[0-9A-Fa-f]+)\}
    | \\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})
    | \\k<(?P<backward>\w+)>
    | \(\?P=(?P<python_backward>\w+)\)
    | (?P<zero>\\0(?![0-9]))
    | (?P<anchor>\\[AZz])
    | \\.
    | \(\?(?P<python>P?)<(?P<name>[A-Za-z_$]\w*)>
    | (?P<group>\((?!\?))
    | (?P<posix>\[:[a-z]+:\])
    | (?P<open>\[\^?\]?)
    | (?P<close>\])
    | (?P<count>\{[0-9]+(?:,[0-9]*)?\})
    | (?P<brace>[{}])
    | (?P<dash>-)
    """,
    re.VERBOSE | re.DOTALL,
)
_DELIMITED = re.compile(r"/(\^.*|.*\$)/([a-z]*)", re.DOTALL)  # /^…/i, as in JavaScript
_FLAGS = re.compile(r"\(\?([a-z]+)\)")  # (?i), as in Python and PCRE
_CLASS_ESCAPE = re.compile(r"\\[dDwWsS]")
_POSIX = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "digit": "0-9",
    "lower": "a-z",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_ANCHORS = {"A": "^", "Z": "$", "z": "$"}
_COUNT = re.compile(r"\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}")
_MOST_COUNTED = 5000
"""Largest repetition count of a pattern that can match at any place, and so is slow at each."""


class Pattern(NamedTuple):
    """A regular expression in portable form.

    Attributes:
        text: The expression.
        is_foreign: True if the original was not valid in ECMA-262, so that other tools may differ.
    """

    text: str
    is_foreign: bool


@lru_cache(maxsize=4096)
def portable(pattern: str) -> Pattern:
    """Returns a pattern in the form that every engine used here reads alike.

    Raises:
        ValueError: The pattern is invalid, or would take too long to match.
    """
    if _is_long(pattern):
        msg = f"{pattern!r} counts to more than {_MOST_COUNTED:,}, and would take too long to match"
        raise ValueError(msg)
    if _compiles(pattern) and not _needs_rewriting(pattern):
        return Pattern(pattern, is_foreign=False)
    inner, flags = _without_flags(pattern)
    rewriter = _Rewriter()
    text = rewriter.rewritten(inner)
    if "i" in flags:
        text = f"(?i:{text})"
    if not _compiles(text):
        msg = f"{pattern!r} is not a regular expression of ECMA-262"
        raise ValueError(msg)
    return Pattern(text, is_foreign=inner != pattern or rewriter.is_foreign)


def _is_long(pattern: str) -> bool:
    """Tells whether a pattern without a leading ``^`` has a repetition count above the limit."""
    counts = [int(count or 1) for pair in _COUNT.findall(pattern) for count in pair]
    is_placed = pattern.startswith("^") and "|" not in pattern
    return not is_placed and max(counts, default=0) > _MOST_COUNTED


def _needs_rewriting(pattern: str) -> bool:
    return bool(
        any(sign in pattern for sign in ("\\c", "\\u{", "(?<", "(?P", "[:"))
        or _DELIMITED.fullmatch(pattern)
        or re.search(r"\\u[dD][89abAB]", pattern)
        or re.search(r"\[[^\]\\]*\[", pattern)
    )


def _compiles(pattern: str) -> bool:
    try:
        jsonschema_rs.Draft7Validator({"pattern": pattern}, validate_formats=False)
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except jsonschema_rs.ValidationError:
        return False
    return True


def _without_flags(pattern: str) -> tuple[str, str]:
    """Returns a pattern without the delimiters and flags of other languages, and the flags."""
    delimited = _DELIMITED.fullmatch(pattern)
    if delimited:
        return delimited[1], delimited[2]
    flags = _FLAGS.match(pattern)
    if flags:
        return pattern[flags.end() :], flags[1]
    return pattern, ""


_LONGER: Final = f"^(?s:.{{{BACKTRACKED_CHARACTERS.most + 1}}})|"
"""First alternative of a bounded pattern: accepts any longer text before the pattern is tried."""

BACKTRACKING: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
"""Validator option: after this many steps of backtracking, a text counts as not matching."""


@lru_cache(maxsize=4096)
def backtracks(pattern: str) -> bool:
    """Tells whether matching a pattern needs backtracking, and so takes quadratic time or worse."""
    try:
        jsonschema_rs.Draft7Validator(
            {"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions()
        )
    except jsonschema_rs.ValidationError:
        return True
    return False


def bounded(pattern: str) -> str:
    """Returns a pattern that accepts any text too long for backtracking."""
    return _LONGER + pattern if backtracks(pattern) else pattern


def unbounded(message: str) -> str:
    """Returns a validator's message with the original patterns in place of the bounded ones."""
    return message.replace(_LONGER, "")


class _Rewriter:
    """Rewrites one pattern, token by token.

    Attributes:
        is_foreign: True once a token was found that ECMA-262 does not define.
    """

    def __init__(self) -> None:
        self.is_foreign = False
        self._is_in_class = False
        self._names: list[str | None] = []

    def rewritten(self, pattern: str) -> str:
        """Returns a pattern with each token rewritten by the method of the token's name."""
        return _TOKEN.sub(self._token, pattern)

    def _token(self, match: re.Match[str]) -> str:
        kind = match.lastgroup
        if self._is_in_class and kind in {"name", "python", "group", "open", "brace", "count"}:
            return match[0].replace("[", "\\[")
        method = getattr(self, f"_{(kind or '').removeprefix('python_')}", None)
        text: str = match[0] if method is None else method(match)
        return text

    def _control(self, match: re.Match[str]) -> str:
        return f"\\x{ord(match['control']) % 32:02x}"

    def _code(self, match: re.Match[str]) -> str:
        return _literal(int(match["code"], 16))

    def _low(self, match: re.Match[str]) -> str:
        high, low = int(match["high"], 16), int(match["low"], 16)
        return _literal(0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00)

    def _backward(self, match: re.Match[str]) -> str:
        self.is_foreign |= match["python_backward"] is not None
        name = match["python_backward"] or match["backward"]
        return f"\\{self._names.index(name) + 1}" if name in self._names else match[0]

    def _zero(self, _match: re.Match[str]) -> str:
        return "\\x00"

    def _anchor(self, match: re.Match[str]) -> str:
        self.is_foreign = True
        return match[0] if self._is_in_class else _ANCHORS[match[0][1]]

    def _name(self, match: re.Match[str]) -> str:
        self.is_foreign |= match["python"] == "P"
        self._names.append(match["name"])
        return "("

    def _group(self, match: re.Match[str]) -> str:
        self._names.append(None)
        return match[0]

    def _posix(self, match: re.Match[str]) -> str:
        members = _POSIX.get(match[0][2:-2])
        if self._is_in_class and members:
            self.is_foreign = True
            return members
        text = match[0]
        if self._is_in_class:
            text = f"\\{text}"
        self._is_in_class = False  # the token ends with a bracket, which closes the class
        return text

    def _open(self, match: re.Match[str]) -> str:
        if match[0] == "[]":
            return "(?!)"
        if match[0] == "[^]":
            return r"[\s\S]"
        self._is_in_class = True
        return match[0]

    def _close(self, match: re.Match[str]) -> str:
        text = match[0] if self._is_in_class else "\\]"
        self._is_in_class = False
        return text

    def _brace(self, match: re.Match[str]) -> str:
        return f"\\{match[0]}"

    def _dash(self, match: re.Match[str]) -> str:
        r"""Escapes a dash beside an escape such as ``\d``, where it cannot denote a range."""
        before, after = match.string[: match.start()][-2:], match.string[match.end() :][:2]
        is_beside = _CLASS_ESCAPE.fullmatch(before) or _CLASS_ESCAPE.fullmatch(after)
        return "\\-" if self._is_in_class and is_beside else "-"


def _literal(code: int) -> str:
    return re.escape(chr(code)) if code < 0x110000 else "(?!)"  # noqa: PLR2004 - Unicode's end
