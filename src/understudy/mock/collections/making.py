"""Makes items: what a client sent over what the document makes up, with a server's own members."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from understudy.limits import RECORDS
from understudy.mock.collections.shapes import ItemMember, ItemShape, Moment
from understudy.openapi.resources.model import ResourceParent
from understudy.openapi.resources.names import canonical, singular
from understudy.openapi.sampler import Sampler

_ATTEMPTS: Final = 20
_HEXADECIMAL_DIGITS: Final = 24
_UUID_VERSION: Final = 4


class ItemMaker:
    """Makes the items of one collection.

    Args:
        shape: Describes its items.
        parents: The parameters of the collection's path.
        seed: Same seed and numbers, same items.
    """

    def __init__(self, shape: ItemShape, parents: Sequence[ResourceParent], seed: int) -> None:
        self._shape = shape
        self._parents = parents
        self._seed = seed

    def identifier(self, number: int, is_taken: Callable[[Any], bool]) -> Any:
        """Returns an identifier for a new item: the next integer, or a text of the member's kind.

        Args:
            number: The number of the item in its collection.
            is_taken: Tells whether another item has an identifier.
        """
        name = self._shape.identifier
        if name is None or name not in self._shape.members:
            return self._text(number)
        candidates = (
            c
            for attempt in range(self._attempts(name))
            for c in self._candidates(name, number, attempt)
        )
        free = (c for c in candidates if self._shape.accepts(name, c) and not is_taken(c))
        return next(free, self._text(number))

    def _attempts(self, name: str) -> int:
        """Returns how many identifiers are tried: of integers as many as there can be items."""
        types = self._shape.bodies.types(self._shape.members[name].schema)
        return RECORDS.most if types & {"integer", "number"} else _ATTEMPTS

    def _candidates(self, name: str, number: int, attempt: int) -> tuple[Any, ...]:
        schema = self._shape.members[name].schema
        types = self._shape.bodies.types(schema)
        if types & {"integer", "number"}:
            least = self._shape.bodies.keyword(schema, "minimum") or 0
            return (number + attempt, int(least) + number + attempt)
        if self._shape.bodies.keyword(schema, "format") == "uuid":
            return (self._uuid(number + attempt * 1_000_003),)
        sampled = Sampler(self._shape.schemas, self._seed, number + attempt).value(schema, name)
        is_free_text = not {"pattern", "enum", "format"} & self._keywords(name)
        if is_free_text and canonical(name).endswith("id"):
            return (self._text(number + attempt * 1_000_003), sampled)
        return (sampled,)

    def _keywords(self, name: str) -> set[str]:
        schema, keyword = self._shape.members[name].schema, self._shape.bodies.keyword
        return {it for it in ("pattern", "enum", "format") if keyword(schema, it) is not None}

    def _digest(self, number: int) -> str:
        text = f"{self._seed} {self._shape.resource.path} {number}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _text(self, number: int) -> str:
        return self._digest(number)[:_HEXADECIMAL_DIGITS]

    def _uuid(self, number: int) -> str:
        digest = self._digest(number)
        parts = (digest[:8], digest[8:12], f"{_UUID_VERSION}{digest[13:16]}", f"a{digest[17:20]}")
        return "-".join((*parts, digest[20:32]))

    def body(
        self,
        number: int,
        identifier: Any,
        parents: Sequence[Any],
        sent: Mapping[str, Any],
        now: datetime | None,
    ) -> dict[str, Any]:
        """Returns the members of a new item.

        Members that the client may send and did not have their default, or are left out where an
        item need not have them; the others are the server's, and made up.

        Args:
            number: The number of the item in its collection.
            identifier: The value of the member that identifies it.
            parents: The values of the parameters in the path of its collection.
            sent: The members that the client sent.
            now: The time of its creation; None for a time that is made up.
        """
        made = self.made_up(number)
        body: dict[str, Any] = {}
        for name, member in self._shape.members.items():
            is_fixed = name == self._shape.identifier and identifier is not None
            is_sent = name in sent and not member.is_read_only and not is_fixed
            if is_sent and (member.is_write_only or self._shape.accepts(name, sent[name])):
                body[name] = sent[name]
                continue
            values = self._own(name, member, identifier, parents, now)
            if not values and (member.is_required or not member.is_sent or now is None):
                values = (made[name],) if name in made and not member.is_write_only else ()
            if values:
                body[name] = values[0]
        return {**body, **{k: v for k, v in sent.items() if k not in self._shape.members}}

    def made_up(self, number: int) -> dict[str, Any]:
        """Returns an item that is made up from the document's examples and schema."""
        if self._shape.schema is None:
            return {}
        value = Sampler(self._shape.schemas, self._seed, number).value(self._shape.schema)
        return value if isinstance(value, dict) else {}

    def _own(
        self,
        name: str,
        member: ItemMember,
        identifier: Any,
        parents: Sequence[Any],
        now: datetime | None,
    ) -> tuple[Any, ...]:
        """Returns the value that the server gives a member, as a tuple of one; empty for none."""
        if name == self._shape.identifier and identifier is not None:
            return (identifier,)
        for parent, value in zip(self._parents, parents, strict=True):
            if canonical(name) in _names_of(parent) and self._shape.accepts(name, value):
                return (value,)
        if member.moment is not None and now is not None:
            return self.time(name, now)
        return () if now is None else member.default

    def time(self, name: str, now: datetime) -> tuple[Any, ...]:
        """Returns an instant as a member writes it, as a tuple of one; empty where none fits."""
        instant = now.astimezone(UTC)
        candidates: tuple[Any, ...] = (
            instant.strftime("%Y-%m-%dT%H:%M:%SZ"),
            str(instant.date()),
            int(instant.timestamp()),
        )
        return tuple(c for c in candidates if self._shape.accepts(name, c))[:1]

    def stamped(
        self, body: Mapping[str, Any], moments: Sequence[Moment], now: datetime
    ) -> dict[str, Any]:
        """Returns a body whose times of these moments are now."""
        times = {
            name: value
            for name, member in self._shape.members.items()
            if member.moment in moments
            for value in self.time(name, now)
        }
        return {**body, **times}


def _names_of(parent: ResourceParent) -> tuple[str, ...]:
    """Returns canonical names of members that say which parent an item has."""
    name = canonical(parent.parameter)
    own = () if name in {"id", "uuid", "name"} else (name,)
    if parent.collection is None:
        return own
    last = [part for part in parent.collection.split("/") if part and "{" not in part][-1:]
    one = singular(last[0]) if last else ""
    return (*own, f"{one}{name}", f"{one}id")
