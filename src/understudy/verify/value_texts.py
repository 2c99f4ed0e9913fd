"""Writes values as findings show them: as JSON, which readers in any language know."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from understudy.exchange.messages import NO_JSON

BITING = (
    "A&B=C &amp; #1 + 2 %41_100%",
    "東京 🎭 שלום e\N{COMBINING ACUTE ACCENT}",
    '"it\'s" <b> \\n ; -- [x] {y} :) **...**\r\n ',
)
"""Texts that something changes which is not careful: addresses, markup, bytes for characters."""


class NearText(NamedTuple):
    """A text that is nearly another: as it is made here, of a shell's variable, and of a value in Python."""

    make: Callable[[str], str]
    shell: str
    python: str


def _respelled(letters: dict[str, str]) -> NearText:
    """Returns the text in which each of these letters is written otherwise."""
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
    "widened": _respelled({letter: chr(ord(letter) + 0xFEE0) for letter in _VOWELS}),
    "basic": NearText(
        lambda text: b64encode(f"{text}:{text}".encode()).decode(),
        "$(printf %%s \"$%s\" | sed 's/.*/&:&/' | tr -d '\\n' | base64 | tr -d '\\n')",
        'base64.b64encode(":".join([%s] * 2).encode()).decode()',
    ),
}
"""The ways to make a secret that is nearly another: who compares carelessly takes it."""


SHORTEST_SECRET: Final = 6
"""Characters of the shortest text that is hidden as nearly a secret: a shorter one may be a word."""


def nearly(secret: str, ways: Iterable[str] = NEARLY) -> Iterator[tuple[str, str]]:
    """Yields each way to make a text that is nearly a secret, and the text where it is another."""
    made = ((way, NEARLY[way].make(secret)) for way in ways)
    yield from ((way, it) for way, it in made if it != secret and len(it) >= SHORTEST_SECRET)


def nearly_in_form(secret: str) -> list[str]:
    """Returns the texts that are nearly a secret, for a form: the longer one by NUL, which no header holds.

    Whoever compares beginnings takes that too, and so does whoever ends a text there.
    """
    return [f"{secret}\0" if way == "lengthened" else text for way, text in nearly(secret, MANGLED)]


def in_parts(**parts: Iterable[object]) -> str:
    """Returns what is wrong in words: each part with its values, and none that has no value."""
    texts = {name.replace("_", " "): ", ".join(map(str, it)) for name, it in parts.items()}
    return "; ".join(f"{name} {text}" for name, text in texts.items() if text) or "nothing"


def as_json(value: object) -> str:
    """Returns a value as JSON; what JSON does not have is written as text."""
    if value is NO_JSON:
        return "no JSON"
    return json.dumps(value, default=_plain, ensure_ascii=False)  # with spaces, so that it wraps


Pairs = dict[str, tuple[object, object]]
"""Names of members to two values of each."""


_OF_PICTURES: Final = frozenset({"avatar_url", "image_url", "header_image"})
_QUERY: Final = re.compile(r"""\?[^\s)"']*""")


def differing_pairs(
    one: Mapping[str, object], other: Mapping[str, object], names: Iterable[str]
) -> Pairs:
    """Returns which of these members differ between two objects, each with both values.

    Queries in addresses of pictures do not count: they may be signed for each response.
    """
    pairs = {name: (one.get(name), other.get(name)) for name in names}
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
        for name, (one, other) in ((name, _near(*pair)) for name, pair in values.items())
    )


NEAR: Final = 60
"""Characters of a value that are shown where it begins to differ from another."""


def _near(*values: object) -> Iterator[str]:
    """Yields two values as JSON; of long ones only what stands around their first difference."""
    texts = [as_json(value) for value in values]
    pairs = enumerate(zip(*texts, strict=False))
    begins = next((at for at, (one, other) in pairs if one != other), min(map(len, texts)))
    start = max(0, begins - NEAR // 3) if max(map(len, texts)) > NEAR else 0
    for text in texts:
        end = text[start : start + NEAR]
        yield ("…" if start else "") + end + ("…" if text[start + NEAR :] else "")


def as_text(value: object) -> str:
    """Returns a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else as_json(value)


def _plain(value: object) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)
