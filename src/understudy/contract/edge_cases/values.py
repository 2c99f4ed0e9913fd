"""Values for a schema: one that it surely takes, and those at the edges of every keyword.

The compiled schema is the judge of each: what a candidate was made for is only its description, so
that a keyword that understudy does not read can make a case less pointed, and never wrong.
"""

from collections.abc import Iterator
from random import Random  # noqa: TID251 - seeded by whoever asks
from typing import Any, NamedTuple

from understudy.contract.edge_cases import texts
from understudy.contract.edge_cases.drafts import Lexeme
from understudy.document.loader import Node
from understudy.document.schemas import Schemas

MAX_DEPTH = 4

_FORMATS = {
    "byte": "bm90ZQ==",
    "date": "2026-03-14",
    "date-time": "2026-03-14T09:26:53Z",
    "email": "ada@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "time": "09:26:53Z",
    "uri": "https://example.com/a",
    "uri-reference": "/a",
    "uuid": "3f2b6c1e-8d4a-4c7b-9e10-5a6b7c8d9e0f",
}

_BAD_FORMATS = {
    "date": ("2026-02-30", "14.03.2026", "2026-3-14"),
    "date-time": ("2026-03-14", "2026-03-14T25:00:00Z", "2026-03-14 09:26:53", "1773480413"),
    "email": ("ada", "ada@", "@example.com", "ada@example@com"),
    "ipv4": ("256.0.0.1", "1.2.3", "::1"),
    "ipv6": ("1.2.3.4", ":::"),
    "uri": ("example.com", "//", "http://exa mple.com/"),
    "uuid": ("3f2b6c1e", "not-a-uuid"),
}

_OTHERS: tuple[tuple[str, str, Any], ...] = (
    ("null", "null", None),
    ("boolean", "true", True),
    ("integer", "a number", 7),
    ("number", "a fraction", 7.5),
    ("string", "a text", "7"),
    ("array", "a list", []),
    ("object", "an object", {}),
)
"""Type, what it is called, and one of it."""


class Choice(NamedTuple):
    """A value at an edge.

    Attributes:
        value: May hold a ``Lexeme``.
        what: In plain words.
        keyword: The keyword whose edge it is.
        category: Of the case that it makes.
        is_valid: What the compiled schema says.
        is_option: Whether it is one of a few that a client would choose between.
    """

    value: Any
    what: str
    keyword: str
    category: str
    is_valid: bool
    is_option: bool = False


class Values:
    """Makes values for the schemas of one document.

    Args:
        schemas: The document's validators.
    """

    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas

    def says(self, schema: Node) -> dict[str, Any]:
        """Returns the keywords of a schema, through references and ``allOf``; the first wins."""
        node = self.schemas.follow(schema)
        if not isinstance(node.value, dict):
            return {}
        found = dict(node.value)
        for _, part in (node.child("allOf") or Node("", [])).children():
            found = {**self.says(part), **found}
        return found

    def sample(self, schema: Node, depth: int = 0) -> Any:
        """Returns a value that the schema takes, if one of those that come to mind is one."""
        takes = self.schemas.validator(schema).is_valid
        candidates = self._candidates(schema, depth)
        first = next(candidates)
        return first if takes(first) else next((v for v in candidates if takes(v)), first)

    def _candidates(self, schema: Node, depth: int) -> Iterator[Any]:
        said = self.says(schema)
        examples = said.get("examples")
        listed = examples if isinstance(examples, list) else []
        yield from (said[keyword] for keyword in ("example", "default", "const") if keyword in said)
        yield from (*listed, *said.get("enum", ()))
        for keyword in ("oneOf", "anyOf"):
            parts = self.schemas.follow(schema).child(keyword)
            if parts is not None and depth < MAX_DEPTH:
                yield from (self.sample(part, depth + 1) for _, part in parts.children())
        types = self.schemas.types(schema) or self._implied(said)
        for name in ("object", "array", "string", "integer", "number", "boolean", "null"):
            if name in types:
                yield from self._typed(name, schema, said, depth)
        yield from (value for _, _, value in _OTHERS)

    def _implied(self, said: dict[str, Any]) -> frozenset[str]:
        return frozenset({"object" if "properties" in said else "string"})

    def _typed(self, name: str, schema: Node, said: dict[str, Any], depth: int) -> Iterator[Any]:
        match name:
            case "object":
                yield self._object(schema, depth)
            case "array":
                items = self.schemas.items_schema(schema)
                item = "a" if items is None or depth >= MAX_DEPTH else self.sample(items, depth + 1)
                yield [item] * max(1, said.get("minItems", 1))
                yield []
            case "string":
                yield from _texts(said)
            case "integer" | "number":
                yield from _numbers(said)
            case _:
                yield name != "null" or None

    def _object(self, schema: Node, depth: int) -> dict[str, Any]:
        names = dict.fromkeys(self.schemas.required_names(schema))
        if depth == 0:
            names.update(dict.fromkeys(self.schemas.property_names(schema)))
        made = {}
        for name in names:
            member = self.schemas.property_schema(schema, name)
            if depth < MAX_DEPTH or name in self.schemas.required_names(schema):
                made[name] = "a" if member is None else self.sample(member, depth + 1)
        return made

    def edges(self, schema: Node, *, is_text: bool = False) -> Iterator[Choice]:
        """Yields the values at the edges of a schema, judged.

        Args:
            schema: The schema.
            is_text: Whether the value will travel as a text, where every type looks the same.
        """
        takes = self.schemas.validator(schema).is_valid
        said = self.says(schema)
        types = self.schemas.types(schema)
        found = [*_of_enum(said)]
        if "string" in types or not types:
            found += _of_text(said)
        if types & {"integer", "number"}:
            found += _of_number(said)
        if "boolean" in types:
            found += [(value, str(value).lower(), "type", "option") for value in (True, False)]
        if "array" in types:
            found += self._of_array(schema, said)
        if types and not is_text:
            others = ((name, what, v) for name, what, v in _OTHERS if name not in types)
            kinds = " or ".join(sorted(types))
            found += [(v, f"{what} instead of {kinds}", "type", "type") for _, what, v in others]
        for value, what, keyword, category in found:
            is_valid = isinstance(value, Lexeme) or takes(value)
            is_option = is_valid and category in {"option", "boundary"}
            blamed = keyword if is_valid or keyword in said else _blamed(said)
            yield Choice(value, what, blamed, category, is_valid, is_option)

    def _of_array(self, schema: Node, said: dict[str, Any]) -> Iterator[tuple[Any, str, str, str]]:
        items = self.schemas.items_schema(schema)
        item = "a" if items is None else self.sample(items)
        yield [], "an empty list", "minItems", "empty"
        for keyword in ("minItems", "maxItems"):
            for step in (-1, 0, 1):
                size = said.get(keyword, -2) + step
                if 0 <= size <= texts.LONG:
                    yield [item] * size, f"{size} items", keyword, "boundary"
        yield [item, item], "one item twice", "uniqueItems", "repetition"


def _blamed(said: dict[str, Any]) -> str:
    """Returns the keyword that refuses a value which was made for another."""
    likely = ("const", "enum", "pattern", "format", "minLength", "maxLength", "minimum", "maximum")
    return next((keyword for keyword in likely if keyword in said), "type")


_Found = Iterator[tuple[Any, str, str, str]]


def _of_enum(said: dict[str, Any]) -> _Found:
    for value in said.get("enum", ()):
        yield value, f"the value {value}", "enum", "option"
        if isinstance(value, str):
            yield value.swapcase(), f"{value} in the other case", "enum", "enum"
            yield f"{value} ", f"{value} with a space behind it", "enum", "enum"
            yield value[:-1], f"{value} without its last letter", "enum", "enum"
        elif isinstance(value, int):
            yield value + 1, f"{value + 1}, beside the value {value}", "enum", "enum"
    if "enum" in said:
        yield ",".join(map(str, said["enum"])), "all values joined by commas", "enum", "enum"
        yield "understudy", "a value that is not listed", "enum", "enum"


def _of_text(said: dict[str, Any]) -> _Found:
    if "enum" in said or "const" in said:
        return
    yield "", "empty", "minLength", "empty"
    yield from _lengths(said)
    if "pattern" in said:
        texts_ = _matching(said)
        yield from ((t, f"matching {said['pattern']}", "pattern", "pattern") for t in texts_)
        yield f"{texts_[0]}\n", "a line end behind what matches", "pattern", "pattern"
    form = said.get("format", "")
    for text in _BAD_FORMATS.get(form, ()):
        yield text, f"{text}, which is no {form}", "format", "format"
    if form in _FORMATS:
        yield _FORMATS[form], f"{_FORMATS[form]}, a plain {form}", "format", "format"
    for what, text in texts.UNICODE.items():
        yield text, what, "type", "unicode"
    for what, text in {**texts.PLAIN, **texts.EMPTY_LOOKING}.items():
        yield text, what, "type", "text"


def _lengths(said: dict[str, Any]) -> _Found:
    shortest, longest = said.get("minLength", 0), said.get("maxLength")
    for size in sorted({shortest - 1, shortest, shortest + 1, 1} - {0, -1}):
        yield _sized(size), f"{size} characters", "minLength", "boundary"
    if longest is None:
        what = f"{texts.LONG:,} characters where no limit is declared"
        yield _sized(texts.LONG), what, "maxLength", "boundary"
    for size in () if longest is None else (longest - 1, longest, longest + 1):
        yield _sized(size), f"{size:,} characters, {longest:,} allowed", "maxLength", "boundary"
        emoji = f"{size:,} emoji, {longest:,} characters allowed"
        yield "\U0001f600" * size, emoji, "maxLength", "unicode"


def _sized(size: int) -> str:
    return ("abcdefghij" * (size // 10 + 1))[: max(size, 0)]


def _of_number(said: dict[str, Any]) -> _Found:
    if "enum" in said or "const" in said:
        return
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        bound = said.get(keyword)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            near = (bound - 1, bound, bound + 1)
            yield from ((n, f"{n}, with {keyword} {bound}", keyword, "boundary") for n in near)
    step = said.get("multipleOf")
    if isinstance(step, int | float):
        yield step, f"{step}, once the step", "multipleOf", "boundary"
        yield step * 1.5, f"{step * 1.5}, between two steps of {step}", "multipleOf", "boundary"
    for what, number in texts.INTEGERS.items():
        yield number, what, "format", "number"


def _texts(said: dict[str, Any]) -> Iterator[str]:
    if "pattern" in said:
        yield from _matching(said)
    form = said.get("format")
    if form in _FORMATS:
        yield _FORMATS[form]
    yield "Port Lindry"
    yield _sized(max(1, said.get("minLength", 1)))
    yield ""


def _numbers(said: dict[str, Any]) -> Iterator[int | float]:
    low: Any = said.get("minimum", said.get("exclusiveMinimum", 0))
    low = 0 if isinstance(low, bool) else low
    step = said.get("multipleOf", 1)
    yield from (low, low + 1, (low // step + 1) * step, 0, said.get("maximum", 1), low + 0.5)


def _matching(said: dict[str, Any]) -> list[str]:
    """Returns texts that match a pattern, as far as Python reads it as JavaScript does."""
    from rstr import Rstr  # noqa: PLC0415 - only where a pattern is

    found = []
    for turn in range(3):
        try:
            found.append(str(Rstr(_Ordered(turn)).xeger(said["pattern"])))
        except (ValueError, KeyError, RecursionError):
            found.append("a")
    return found


class _Ordered(Random):
    """Chooses out of sets too, whose order is another in every process."""

    def choice(self, seq: Any) -> Any:
        """Returns one of them."""
        return super().choice(sorted(seq) if isinstance(seq[0], str) else seq)
