"""Writes values as findings show them, as JSON; makes texts that careless code gets wrong."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from understudy.exchange.messages import NO_JSON

BITING = (
    "A&B=C &amp; #1 + 2 %41_100%",
    "東京 🎭 שלום e\N{COMBINING ACUTE ACCENT}",
    '"it\'s" <b> \\n ; -- [x] {y} :) **...**\r\n ',
)
"""Texts that careless code changes: by URL encoding, markup, or bytes instead of characters."""


class NearText(NamedTuple):
    """A way to make a near copy of a text: by a function, in a shell, and in a Python script."""

    make: Callable[[str], str]
    shell: str
    python: str


def _respelled(letters: dict[str, str]) -> NearText:
    """Returns the way to make a near copy in which each of these letters is replaced."""
    table = str.maketrans(letters)
    script = ";".join(f"s/{letter}/{other}/g" for letter, other in letters.items())
    calls = "".join(f'.replace("{letter}", "{other}")' for letter, other in letters.items())
    shell = '$(printf %%s "$%s" | sed \'' + script.replace("%", "%%") + "')"
    python = "%s" + calls.replace("%", "%%")
    return NearText(lambda text: text.translate(table), shell, python)


_VOWELS: Final = "aeiou"

MANGLED: Final = ("lengthened", "shortened", "recased")
"""The ways that every operation is tried with; the others are sent once."""

NEARLY: Final[Mapping[str, NearText]] = {
    "lengthened": NearText(lambda text: f"{text}0", "${%s}0", '%s + "0"'),
    "shortened": NearText(lambda text: text[:-1], "${%s%%?}", "%s[:-1]"),
    "recased": NearText(
        str.swapcase, "$(printf %%s \"$%s\" | tr 'A-Za-z' 'a-zA-Z')", "%s.swapcase()"
    ),
    "escaped": _respelled({letter: f"%{ord(letter):02x}" for letter in _VOWELS}),
    "quoted": NearText(lambda text: f'"{text}"', '\\"${%s}\\"', """'"' + %s + '"'"""),
    "widened": _respelled({letter: chr(ord(letter) + 0xFEE0) for letter in _VOWELS}),  # fullwidth
    "basic": NearText(  # a name and a password, or a token as both
        lambda text: b64encode(re.sub("^[^:]*$", r"\g<0>:\g<0>", text).encode()).decode(),
        "$(printf %%s \"$%s\" | sed 's/^[^:]*$/&:&/' | tr -d '\\n' | base64 | tr -d '\\n')",
        r"""base64.b64encode(re.sub("^[^:]*$", r"\g<0>:\g<0>", %s).encode()).decode()""",
    ),
}
"""The ways to make a near copy of a secret, which a server that compares carelessly accepts."""

SHORTEST_SECRET: Final = 6
"""Characters of the shortest near copy of a secret; a shorter one may be a common word."""


def nearly(secret: str, ways: Iterable[str] = NEARLY) -> Iterator[tuple[str, str]]:
    """Yields the near copies of a secret, each with the way in which it is made."""
    made = ((way, NEARLY[way].make(secret)) for way in ways)
    yield from ((way, it) for way, it in made if it != secret and len(it) >= SHORTEST_SECRET)


def nearly_in_form(secret: str) -> list[str]:
    """Returns near copies of a secret for a form; the longer one ends in NUL, unlike in headers.

    A server that compares only prefixes accepts that too, and so does one that ends texts at NUL.
    """
    return [f"{secret}\0" if way == "lengthened" else text for way, text in nearly(secret, MANGLED)]


def in_parts(**parts: Iterable[object]) -> str:
    """Returns in words what is wrong: the name of each part with its values, if it has any."""
    texts = {name.replace("_", " "): ", ".join(map(str, it)) for name, it in parts.items()}
    return "; ".join(f"{name} {text}" for name, text in texts.items() if text) or "nothing"


def as_json(value: object) -> str:
    """Returns a value as JSON; what JSON does not have is written as text."""
    if value is NO_JSON:
        return "no JSON"
    return json.dumps(value, default=_plain, ensure_ascii=False)  # with spaces, so that it wraps


Pairs = dict[str, tuple[object, object]]
"""Two values of each member, by its name."""

_OF_PICTURES: Final = frozenset({"avatar_url", "image_url", "header_image"})
_QUERY: Final = re.compile(r"""\?[^\s)"']*""")


def differing_pairs(
    left: Mapping[str, object], right: Mapping[str, object], names: Iterable[str]
) -> Pairs:
    """Returns the members, among these, that differ between two objects, with both values.

    Queries in URLs of pictures are ignored: they may be signed anew for each response.
    """
    pairs = {name: (left.get(name), right.get(name)) for name in names}
    return {
        name: (first, second)
        for name, (first, second) in pairs.items()
        if _compared(name, first) != _compared(name, second)
    }


def _compared(name: str, value: object) -> object:
    is_address = name in _OF_PICTURES and isinstance(value, str)
    return _QUERY.sub("", str(value)) if is_address else value


def as_pairs(values: Pairs, first: str = "was", second: str = "is") -> str:
    """Returns members with two values each, such as ``location: was "Port", is ""``."""
    return "; ".join(
        f"{name}: {first} {one}, {second} {other}"
        for name, (one, other) in ((name, _excerpts(*pair)) for name, pair in values.items())
    )


NEAR: Final = 60
"""Characters of a value that are shown where it begins to differ from another."""


def _excerpts(*values: object) -> Iterator[str]:
    """Yields two values as JSON; of long ones only the part around their first difference."""
    texts = [as_json(value) for value in values]
    pairs = enumerate(zip(*texts, strict=False))
    begins = next((at for at, (one, other) in pairs if one != other), min(map(len, texts)))
    start = max(0, begins - NEAR // 3) if max(map(len, texts)) > NEAR else 0
    for text in texts:
        excerpt = text[start : start + NEAR]
        yield ("…" if start else "") + excerpt + ("…" if text[start + NEAR :] else "")


def as_text(value: object) -> str:
    """Returns a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else as_json(value)


def instant(value: object) -> datetime | None:
    """Returns the date, or the date and time, that a value is in ISO 8601; None for any other."""
    try:
        return datetime.fromisoformat(str(value)) if value else None
    except ValueError:
        return None


def _plain(value: object) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)
