"""Makes sample values that conform to a schema, for generated responses and requests.

A composed schema is flattened into parts, once for each choice of its alternatives (a reading).
Candidates for a value are its examples and one per reading; the compiled schema accepts or rejects
them, and if it rejects all, the first is returned.

A schema of a few lines can require any number of values and attempts. So a sample is tried with
decreasing effort until one attempt succeeds: optional members on fewer levels, and at last only
required members without retries.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from itertools import islice
from time import thread_time
from typing import Any, Final, NamedTuple

from understudy.errors import LimitExceeded
from understudy.limits import SAMPLE_CHARACTERS, SAMPLE_SECONDS, SAMPLE_VALUES
from understudy.openapi.loader import Node
from understudy.openapi.sample_places import (
    SchemaPlace,
    accepted_objects,
    declared_values,
    discriminating_members,
    drawn_numbers,
    numbers,
    pointer_of,
    readings,
)
from understudy.openapi.sample_texts import (
    FAKER_HINT,
    drawn,
    dynamic_text_for,
    matching,
    plain_text_for,
    provided,
    text_for,
)
from understudy.openapi.schemas import Flag, Schemas

MAX_DEPTH = 5
"""Levels with optional members, as the size of a value can grow exponentially with its depth."""


class SampleStyle(NamedTuple):
    """The kind of values that a sampler makes.

    Attributes:
        text: Makes a text from a member's name, a format and a seed.
        depth: Levels with optional members; below them only required ones are made.
        is_for_requests: Whether ``readOnly`` members are left out, and not ``writeOnly`` ones.
        is_plain: Whether numbers are next to their bounds, independent of the seed.
        is_dynamic: Whether every value depends on the seed, and examples are ignored.
    """

    text: Callable[[str, str, str], str] = text_for
    depth: int = MAX_DEPTH
    is_for_requests: bool = False
    is_plain: bool = False
    is_dynamic: bool = False

    @property
    def left_out(self) -> Flag:
        """The flag of members that are never made."""
        return "readOnly" if self.is_for_requests else "writeOnly"


PLAUSIBLE = SampleStyle()
"""Plausible values of a response, which vary with the seed."""

DYNAMIC = SampleStyle(dynamic_text_for, is_dynamic=True)
"""Values of a response that all depend on the seed; the document's examples are not used."""

PLAUSIBLE_REQUEST = SampleStyle(is_for_requests=True)
"""Values of a request that a person might send."""

PLAIN = SampleStyle(plain_text_for, depth=1, is_for_requests=True, is_plain=True)
"""The simplest values of a request, the same in every run."""


MAX_REPEATS = 3
"""Times that a schema may be nested in itself; a schema that requires itself has no finite value."""

MAX_RETRIED_DEPTH = 3
"""Levels on which alternatives are tried, as each try makes everything below it."""

_ATTEMPTS = 8  # texts per place
_MAX_PATTERN_TEXTS = 60  # texts per pattern
_MAX_DISTINCT_TRIES = 20  # items tried for an array with uniqueItems


class Effort(NamedTuple):
    """Limits for one attempt at a sample.

    Attributes:
        depth: Levels with optional members; None: as many as the style has.
        is_retried: Whether alternatives are tried after a rejected value.
        values: Most values in the sample; None: the limit of a response.
        steps: Most values and candidates that are examined.
    """

    depth: int | None = None
    is_retried: bool = True
    values: int | None = None
    steps: int = 40_000


EFFORTS: Final = (
    Effort(values=1000, steps=5000),
    Effort(3, values=1000, steps=5000),
    Effort(2),
    Effort(0),
    Effort(0, is_retried=False),
)
"""Efforts that are tried in turn until one succeeds."""

AT_ONCE: Final = Effort(values=300, steps=2000)
"""The effort for samples made on the event loop: about 15 milliseconds."""

BRIEF: Final = (AT_ONCE, Effort(1, values=300, steps=2000), Effort(0, is_retried=False))
"""The efforts for a small part of a response."""


class _Budget:
    """The part of an effort that is left to a sample.

    Args:
        effort: The whole effort.
        end: Time at which the sample is given up, by the thread's processor time.

    Attributes:
        effort: The whole effort.
        values: How many more values the sample may have.
    """

    def __init__(self, effort: Effort, end: float) -> None:
        self.effort = effort
        self.values = min(effort.values or SAMPLE_VALUES.most, SAMPLE_VALUES.most)
        self._steps = effort.steps
        self._end = end

    def count(self, values: int) -> None:
        """Counts values before they are made, as a small schema can require any number of them.

        Raises:
            LimitExceeded: The sample has too many values.
        """
        self.values -= values
        if self.values < 0:
            raise SAMPLE_VALUES.exceeded()

    def step(self) -> None:
        """Counts a value or candidate that is examined.

        Raises:
            LimitExceeded: Too many were examined, or the time is over.
        """
        self._steps -= 1
        if self._steps < 0 and self.effort.is_retried:
            raise SAMPLE_VALUES.exceeded()
        if thread_time() > self._end:
            raise SAMPLE_SECONDS.exceeded()


class Sampler:
    """Makes sample values for the schemas of one document.

    Args:
        schemas: The document's validators.
        seed: The same seed and schema give the same value.
        number: Index of the value, if several are made for one schema.
        style: The kind of values.
        efforts: Efforts that are tried in turn until one succeeds.
    """

    def __init__(
        self,
        schemas: Schemas,
        seed: int,
        number: int = 0,
        style: SampleStyle = PLAUSIBLE,
        efforts: Sequence[Effort] = EFFORTS,
    ) -> None:
        self._schemas = schemas.for_requests if style.is_for_requests else schemas.for_responses
        self._seed = seed
        self._number = number
        self._style = style
        self._efforts = efforts
        self._budget = _Budget(efforts[-1], thread_time() + SAMPLE_SECONDS.most)
        self._readings: dict[tuple[str, ...], list[tuple[Node, ...]]] = {}
        """Cache: pointers of schemas to their readings; schemas that refer to one another recur."""

    def value(self, schema: Node, name: str = "", above: tuple[str, ...] = ()) -> Any:
        """Makes a value.

        Args:
            schema: The schema of the value.
            name: Name of the member, from which a plausible text is derived.
            above: Pointers of the schemas around the value.

        Raises:
            LimitExceeded: The schema requires more values or characters than a sample may have.
        """
        refusal = SAMPLE_VALUES.exceeded()
        end = thread_time() + SAMPLE_SECONDS.most  # of all efforts together
        for effort in self._efforts:
            self._budget = _Budget(effort, end)
            depth = self._style.depth if effort.depth is None else effort.depth
            if depth and self._schemas.size(schema, depth) > self._budget.values:
                continue
            try:
                return self.joint_value((schema,), name, above)
            except LimitExceeded as error:
                refusal = error
        raise refusal

    def joint_value(
        self, schemas: tuple[Node, ...], name: str = "", above: tuple[str, ...] = ()
    ) -> Any:
        """Makes a value that satisfies several schemas at once, as ``value`` does for one."""
        self._budget.step()
        places = self._places(schemas, name, above)
        if above.count(places[0].pointer) >= MAX_REPEATS:
            return None
        accepts = self._accepts(schemas)
        declared = [value for value in self._declared(places) if accepts(value)]
        if declared:
            chosen = declared[self._choice(places[0]) % len(declared)]
            cut = self._without_left_out(chosen, places[0])
            # copied, since it may be a part of the document that the caller would modify
            return deepcopy(cut if accepts(cut) else chosen)
        is_retried = self._budget.effort.is_retried and len(above) <= MAX_RETRIED_DEPTH
        first: list[Any] = []
        for place in places if is_retried else places[:1]:
            for kind in place.types if is_retried else place.types[:1]:
                for value in self._typed(place, kind, accepts):
                    if accepts(value):
                        return value
                    first = first or [value]
        return first[0] if first else None

    def _declared(self, places: Sequence[SchemaPlace]) -> list[Any]:
        """Returns the values that the document gives: from a Faker hint, or else const, enum, examples."""
        hints = [hint for place in places for hint in place.values(FAKER_HINT)]
        hinted = [provided(str(hint), self._seeding(places[0])) for hint in hints]
        texts = [it for it in hinted if it is not None]
        return texts or declared_values(places, with_examples=not self._style.is_dynamic)

    def _seeding(self, place: SchemaPlace) -> str:
        return f"{self._seed} {self._number} {place.pointer} {place.name}"

    def _choice(self, place: SchemaPlace) -> int:
        """Returns the index of the candidate to choose: random in the dynamic style."""
        return drawn(self._seeding(place)) if self._style.is_dynamic else self._number

    def _places(
        self, schemas: tuple[Node, ...], name: str, above: tuple[str, ...]
    ) -> list[SchemaPlace]:
        pointers = tuple(schema.pointer for schema in schemas)
        parts_read = self._readings.get(pointers)
        if parts_read is None:
            parts_read = self._readings[pointers] = readings(self._schemas, schemas) or [()]
        pointer = pointer_of(schemas, parts_read[0])
        depth = self._budget.effort.depth
        is_deep = len(above) >= self._style.depth or pointer in above
        is_deep = is_deep or (depth is not None and len(above) >= depth)
        places = [SchemaPlace(schemas, parts, name, above, is_deep) for parts in parts_read]
        # authors write the alternative that ends a recursion last: expression | literal
        return places[::-1] if is_deep else places

    def _accepts(self, schemas: tuple[Node, ...]) -> Callable[[Any], bool]:
        takes = [self._schemas.validator(schema).is_valid for schema in schemas]
        budget = self._budget

        def accepts(value: Any) -> bool:
            budget.step()
            return all(take(value) for take in takes)

        return accepts

    def _typed(
        self, place: SchemaPlace, kind: str, accepts: Callable[[Any], bool]
    ) -> Iterator[Any]:
        """Yields candidate values of a JSON type."""
        match kind:
            case "object":
                yield from self._objects(place, accepts)
            case "array":
                yield from (self._array(place), [])  # empty where no item can be valid
            case "integer" | "number":
                if self._style.is_dynamic:
                    yield from drawn_numbers(place, self._choice(place))
                yield from numbers(place, self._number, is_plain=self._style.is_plain)
            case "boolean":
                first = self._choice(place) % 2 == 0
                yield from (first, not first)
            case "null":
                yield None
            case _:
                yield from self._texts(place)

    def _objects(
        self, place: SchemaPlace, accepts: Callable[[Any], bool]
    ) -> Iterator[dict[str, Any]]:
        declared = place.declared()
        required = [str(name) for names in place.values("required") for name in names]
        required = [name for name in dict.fromkeys(required) if not self._is_left_out(place, name)]
        allowed = () if place.is_deep else filter(place.allows, declared)
        optional = [name for name in allowed if not self._is_left_out(place, name)]
        most = place.most("maxProperties", len(declared) + len(required))
        names = [*dict.fromkeys([*required, *optional])][: max(most, len(required))]
        kept = set(names)
        names = [name for name in dict.fromkeys([*declared, *required]) if name in kept]
        names += place.dependents(names)
        fewest = self._fewest(place, names)
        self._budget.count(max(fewest, len(names)))
        names += self._further(place, names, fewest)
        made = {name: self._below(place.member(name), name, place) for name in dict.fromkeys(names)}
        made |= {
            name: text
            for name, text in discriminating_members(place.parts).items()
            if place.allows(name) and self._accepts(tuple(place.member(name)))(text)
        }
        yield made
        yield from accepted_objects(made, required, place, accepts, self._schemas)

    def _fewest(self, place: SchemaPlace, names: Sequence[str]) -> int:
        """Returns the least number of members; a map in a request gets one, to show its form."""
        others = [*place.nodes("additionalProperties"), *place.nodes("patternProperties")]
        is_map = any(isinstance(node.value, dict) and node.value for node in others)
        is_shown = is_map and self._style.is_for_requests and not (names or place.above)
        return max(place.fewest("minProperties"), int(is_shown))

    def _without_left_out(self, value: Any, place: SchemaPlace) -> Any:
        """Returns an example without ``readOnly`` members in requests, ``writeOnly`` in responses."""
        if self._style.left_out not in self._schemas.flags:
            return value
        if isinstance(value, dict):
            names = [name for name in value if not self._is_left_out(place, str(name))]
            return {name: self._cut(value[name], place.member(str(name))) for name in names}
        if isinstance(value, list):
            return [self._cut(item, place.item(index)) for index, item in enumerate(value)]
        return value

    def _cut(self, value: Any, schemas: Sequence[Node]) -> Any:
        if not schemas or not isinstance(value, dict | list):
            return value
        return self._without_left_out(value, self._places(tuple(schemas), "", ())[0])

    def _is_left_out(self, place: SchemaPlace, name: str) -> bool:
        flag = self._style.left_out
        return any(self._schemas.is_flagged(node, flag) for node in place.member(name))

    def _further(self, place: SchemaPlace, names: Sequence[str], fewest: int) -> list[str]:
        """Returns additional member names until an object has the required number of members."""
        further: list[str] = []
        candidates = self._names(place, max(fewest - len(names), 0))
        for name in candidates:
            if len(names) + len(further) >= fewest:
                break
            if name not in names and name not in further and place.allows(name):
                further.append(name)
        return further

    def _names(self, place: SchemaPlace, count: int) -> Iterator[str]:
        """Yields candidate member names: declared ones, matches of patterns, and invented ones."""
        yield from place.declared()
        rules = tuple(place.nodes("propertyNames"))
        accepts = self._accepts(rules) if rules else lambda _: True
        for number in range(count):
            seed = f"{self._seed} {number} {place.pointer}"
            for patterns in place.values("patternProperties"):
                for pattern in patterns:
                    texts = islice(matching(str(pattern), seed, number + 4), _MAX_PATTERN_TEXTS)
                    yield from (text for text in texts if accepts(text))
            if rules:
                yield str(self._numbered(number).joint_value(rules, "key", place.above))
            if accepts(f"member_{number + 1}"):
                yield f"member_{number + 1}"

    def _array(self, place: SchemaPlace) -> list[Any]:
        contained = [
            node
            for part in place.parts
            if (node := part.child("contains"))
            for _ in range(part.value.get("minContains", 1))
        ]
        first = max((len(node.value) for node in place.nodes("prefixItems")), default=0)
        fewest = max(place.fewest("minItems"), len(contained))
        has_items = bool(place.nodes("items")) or first > 0
        if (not has_items or place.is_deep) and not fewest and not self._style.is_plain:
            return []
        self._budget.count(fewest)
        is_closed = False in place.values("items") + place.values("unevaluatedItems")
        count = max(fewest, first, 0 if is_closed else 1)
        count = min(count, place.most("maxItems", count))
        items: list[Any] = []
        for index in range(count):
            nodes = place.item(index)
            behind = index - (count - len(contained))
            if behind >= 0:
                nodes = [*nodes, contained[behind]]
            items.append(self._item(nodes, place, items))
        return items

    def _item(self, nodes: list[Node], place: SchemaPlace, others: list[Any]) -> Any:
        """Returns an item, which differs from the others if the array requires unique items."""
        index, name = len(others), place.name.removesuffix("s")
        is_distinct = True in place.values("uniqueItems")
        item = None
        for attempt in range(_MAX_DISTINCT_TRIES if is_distinct else 1):
            item = self._below(nodes, name, place, index + attempt)
            if item not in others:
                break
        return item

    def _below(
        self, schemas: Sequence[Node], name: str, place: SchemaPlace, number: int = 0
    ) -> Any:
        if not schemas:
            return self._style.text(name, "", f"{self._seed} {number} {place.pointer} {name}")
        above = (*place.above, place.pointer)
        return self._numbered(number or self._number).joint_value(tuple(schemas), name, above)

    def _numbered(self, number: int) -> "Sampler":
        if number == self._number:
            return self
        sampler = Sampler(self._schemas, self._seed, number, self._style, self._efforts)
        sampler._budget, sampler._readings = self._budget, self._readings
        return sampler

    def _texts(self, place: SchemaPlace) -> Iterator[str]:
        shortest = place.fewest("minLength")
        SAMPLE_CHARACTERS.check(shortest)
        longest = place.most("maxLength", max(shortest, 1_000_000))
        forms = [str(form) for form in place.values("format")]
        for attempt in range(_ATTEMPTS):
            seed = f"{self._seed} {self._number} {attempt}"
            if forms and attempt == 0:
                yield self._sized(place, forms[0], seed, shortest, longest)
            for pattern in place.values("pattern"):
                count = _MAX_PATTERN_TEXTS if attempt == 0 else 1
                yield from islice(matching(pattern, seed, shortest, longest), count)
            yield self._sized(place, "".join(forms[:1]), seed, shortest, longest)

    def _sized(self, place: SchemaPlace, form: str, seed: str, shortest: int, longest: int) -> str:
        text = self._style.text(place.name, form, f"{seed} {place.pointer}")
        while len(text) < shortest:
            text += "a" if form else f" {self._style.text('', '', f'{seed} {len(text)}')}"
        return text[:longest]
