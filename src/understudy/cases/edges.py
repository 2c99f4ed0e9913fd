"""Makes values for schemas: a plain value, and edge values of its keywords.

The compiled schema decides whether an edge value is valid; the keyword only describes it. So a
keyword that is not read here can make a description less precise, but no expected outcome wrong.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from understudy.cases import texts
from understudy.errors import LimitExceeded
from understudy.openapi.loader import Node
from understudy.openapi.operations import Parameter
from understudy.openapi.sample_texts import PLAIN_FORMATS, matching
from understudy.openapi.sampler import PLAIN, Sampler
from understudy.openapi.schemas import ALL, Schemas
from understudy.terminal import counted

MAX_DEPTH = 4
"""Levels of nested objects whose members are mutated."""

ONE_OF_EACH: tuple[tuple[str, str, Any], ...] = (
    ("null", "null", None),
    ("boolean", "true", True),
    ("integer", "a number", 7),
    ("number", "a fraction", 7.5),
    ("string", "a text", "7"),
    ("array", "a list", []),
    ("object", "an object", {}),
)
"""Name, description and an example value of each JSON type."""


class SchemaValues:
    """Reads the schemas of a document, and makes plain values for them."""

    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas.for_requests
        self._sampler = Sampler(schemas, seed=0, style=PLAIN)
        self._samples: dict[str, Any] = {}

    def keywords(self, schema: Node) -> dict[str, Any]:
        """Returns the keywords of a schema and its ``allOf`` parts; outer parts override inner ones."""
        parts = self.schemas.parts(schema, ALL)
        return dict(pair for part in reversed(list(parts)) for pair in part.value.items())

    def members(self, schema: Node) -> dict[str, Node]:
        """Returns the members that an object schema or any of its alternatives declares."""
        members = self.schemas.members(schema)
        return {name: self.schemas.follow(member) for name, member in members.items()}

    def sample(self, schema: Node) -> Any:
        """Returns the simplest value that the schema accepts, or an invalid one if none was found.

        Cached, since thousands of mutations of one body need the same value and change copies.
        """
        if schema.pointer not in self._samples:
            try:
                value = self._sampler.value(schema)
            except LimitExceeded:  # a value this large is neither read nor sent
                value = None
            self._samples[schema.pointer] = value
        return self._samples[schema.pointer]

    def parameter(self, parameter: Parameter) -> Any:
        """Returns the value of a parameter in a plain request: a valid example, or a sample."""
        if parameter.schema is None:
            return "a"
        accepts = self.schemas.validator(parameter.schema).is_valid
        example = next((it for it in parameter.examples if accepts(it)), None)
        return self.sample(parameter.schema) if example is None else example

    def takes_more(self, schema: Node) -> bool:
        """Tells whether an object schema accepts an undeclared member with a string value."""
        value = self.sample(schema)
        is_accepted = self.schemas.validator(schema).is_valid
        return isinstance(value, dict) and is_accepted({**value, "understudy_extra": "1"})


def sized(size: int) -> str:
    """Returns a text of ``size`` lower-case letters."""
    return ("abcdefghij" * (size // 10 + 1))[: max(size, 0)]


_BAD_FORMATS = {
    "date": ("2026-02-30", "14.03.2026", "2026-3-14"),
    "date-time": ("2026-03-14", "2026-03-14T25:00:00Z", "2026-03-14 09:26:53", "1773480413"),
    "email": ("ada", "ada@", "@example.com", "ada@example@com"),
    "ipv4": ("256.0.0.1", "1.2.3", "::1"),
    "ipv6": ("1.2.3.4", ":::"),
    "uri": ("example.com", "//", "http://exa mple.com/"),
    "uuid": ("3f2b6c1e", "not-a-uuid"),
}


class EdgeValue(NamedTuple):
    """A value at the edge of a schema keyword.

    Attributes:
        value: The value.
        description: What the value is, in plain words.
        keyword: The keyword that the value tests.
        category: The category of a case with the value.
        is_valid: Whether the compiled schema accepts it.
        is_option: Whether cases combine the value with options of other parts in pairs.
    """

    value: Any
    description: str
    keyword: str
    category: str
    is_valid: bool
    is_option: bool = False


_Candidates = Iterator[tuple[Any, str, str, str]]
"""Tuples of value, description, keyword and category."""


def edges(values: SchemaValues, schema: Node, *, is_text: bool = False) -> Iterator[EdgeValue]:
    """Yields the edge values of a schema, and whether each is valid.

    Args:
        values: Makes values for the document.
        schema: The schema.
        is_text: Whether the value is sent as text, so that other JSON types are not tried.
    """
    is_accepted = values.schemas.validator(schema).is_valid
    keywords = values.keywords(schema)
    types = values.schemas.types(schema)
    candidates = [*_enum_values(keywords)]
    if "string" in types or not types:
        candidates += _texts(keywords)
    if types & {"integer", "number"}:
        candidates += _numbers(keywords)
    if "boolean" in types:
        candidates += [(value, str(value).lower(), "type", "option") for value in (True, False)]
    if "array" in types:
        candidates += _arrays(values, schema, keywords)
    if types and not is_text:
        others = ((name, what, v) for name, what, v in ONE_OF_EACH if name not in types)
        kinds = " or ".join(sorted(types))
        candidates += [(v, f"{what} instead of {kinds}", "type", "type") for _, what, v in others]
    for value, description, keyword, category in candidates:
        is_valid = is_accepted(value)
        is_option = is_valid and category in {"option", "boundary"}
        named = is_valid or keyword in keywords
        cause = keyword if named else _refusing_keyword(keywords, value)
        yield EdgeValue(value, description, cause, category, is_valid, is_option)


def _arrays(values: SchemaValues, schema: Node, keywords: dict[str, Any]) -> _Candidates:
    items = values.schemas.items(schema)
    item = "a" if items is None else values.sample(items)
    yield [], "an empty list", "minItems", "empty"
    yield [item, item], "one item twice", "uniqueItems", "repetition"
    for keyword in ("minItems", "maxItems"):
        for step in (-1, 0, 1):
            size = keywords.get(keyword, -2) + step
            is_repeated = size > 1 and keywords.get("uniqueItems") is True
            if 0 <= size <= texts.LONG and not is_repeated:
                yield [item] * size, counted(size, "item"), keyword, "boundary"


def _refusing_keyword(keywords: dict[str, Any], value: Any) -> str:
    """Returns the keyword that probably refuses a value, as the one it was made for is missing."""
    low, high = keywords.get("minimum"), keywords.get("maximum")
    is_above = isinstance(value, int) and low is not None and value >= low
    likely = ("const", "enum", "pattern", "format", "minLength", "maxLength")
    bounds = ("maximum",) if is_above and high is not None else ("minimum", "maximum")
    return next((keyword for keyword in (*likely, *bounds) if keyword in keywords), "type")


def _enum_values(keywords: dict[str, Any]) -> _Candidates:
    for value in keywords.get("enum", ()):
        yield value, f"the value {value}", "enum", "option"
        if isinstance(value, str):
            yield value.swapcase(), f"{value} in the other case", "enum", "letter-case"
            yield f"{value} ", f"{value} with a space behind it", "enum", "enum"
            yield value[:-1], f"{value} without its last letter", "enum", "enum"
        elif isinstance(value, int):
            yield value + 1, f"{value + 1}, beside the value {value}", "enum", "enum"
    if "enum" in keywords:
        yield ",".join(map(str, keywords["enum"])), "all values joined by commas", "enum", "enum"
        yield "understudy", "a value that is not listed", "enum", "enum"


def _texts(keywords: dict[str, Any]) -> _Candidates:
    if "enum" in keywords or "const" in keywords:
        return
    yield "", "empty", "minLength", "empty"
    yield from _lengths(keywords)
    if "pattern" in keywords:
        texts_ = _matching(keywords["pattern"])
        yield from ((t, f"matching {keywords['pattern']}", "pattern", "pattern") for t in texts_)
        yield f"{texts_[0]}\n", "a line end behind what matches", "pattern", "pattern"
    form = keywords.get("format", "")
    for text in _BAD_FORMATS.get(form, ()):
        yield text, f"{text}, which is not of format {form}", "format", "format"
    if form in PLAIN_FORMATS:
        yield PLAIN_FORMATS[form], f"{PLAIN_FORMATS[form]}, a plain {form}", "format", "format"
    for what, text in texts.UNICODE.items():
        yield text, what, "type", "unicode"
    for what, text in {**texts.PLAIN, **texts.EMPTY_LOOKING}.items():
        yield text, what, "type", "text"


def _matching(pattern: str) -> list[str]:
    """Returns three texts that match a pattern, or letters if none can be made."""
    return [next(matching(pattern, str(seed)), "a") for seed in range(3)]


def _lengths(keywords: dict[str, Any]) -> _Candidates:
    shortest, longest = keywords.get("minLength", 0), keywords.get("maxLength")
    for size in sorted({shortest - 1, shortest, shortest + 1, 1} - {0, -1}):
        yield sized(size), counted(size, "character"), "minLength", "boundary"
    if longest is None:
        is_free = not {"pattern", "format"} & set(keywords)
        where = " where no limit is declared" if is_free else ""
        what = f"{texts.LONG:,} characters{where}"
        yield sized(texts.LONG), what, "maxLength", "boundary"
    for size in () if longest is None else (longest - 1, longest, longest + 1):
        yield sized(size), f"{size:,} characters, {longest:,} allowed", "maxLength", "boundary"
        emoji = f"{size:,} emoji, {longest:,} characters allowed"
        yield "\U0001f600" * size, emoji, "maxLength", "unicode"


def _numbers(keywords: dict[str, Any]) -> _Candidates:
    if "enum" in keywords or "const" in keywords:
        return
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        bound = keywords.get(keyword)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            # beyond 2**53 a double equals its neighbours, so bound - 1 and bound + 1 test nothing
            is_exact = abs(bound) < 2**53 or "integer" in (keywords.get("type") or ())
            near = (bound - 1, bound, bound + 1) if is_exact else (bound,)
            yield from ((n, f"{n}, with {keyword} {bound}", keyword, "boundary") for n in near)
    step = keywords.get("multipleOf")
    if isinstance(step, int | float):
        yield step, f"{step}, once the step", "multipleOf", "boundary"
        yield step * 1.5, f"{step * 1.5}, between two steps of {step}", "multipleOf", "boundary"
    for what, number in texts.INTEGERS.items():
        yield number, what, "format", "number"
