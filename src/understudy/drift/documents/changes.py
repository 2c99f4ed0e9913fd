"""Changes between two OpenAPI documents, and the clients that each of them breaks."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Final, Literal

from understudy.openapi.operations import path_shape

Audience = Literal["senders", "readers"]
"""The clients that a change breaks: those that send requests, or those that read responses."""

SENDERS: Final[frozenset[Audience]] = frozenset({"senders"})
READERS: Final[frozenset[Audience]] = frozenset({"readers"})
EVERYBODY: Final = SENDERS | READERS
NO_CLIENT: Final[frozenset[Audience]] = frozenset()

STATEMENTS: Final = MappingProxyType(
    {
        "operation-added": "An operation is new.",
        "operation-removed": "An operation is gone.",
        "operation-deprecated": "An operation is deprecated.",
        "parameter-added": "A parameter is new.",
        "parameter-removed": "A parameter is gone.",
        "parameter-moved": "A parameter is sent in another place.",
        "parameter-required": "A parameter must be sent.",
        "parameter-optional": "A parameter may be left out.",
        "parameter-style": "The value of a parameter is written otherwise.",
        "request-body-added": "An operation takes a body.",
        "request-body-removed": "An operation takes no body.",
        "request-body-required": "A body must be sent.",
        "request-body-optional": "A body may be left out.",
        "media-type-added": "A body may have one media type more.",
        "media-type-removed": "A body no longer has a media type.",
        "response-added": "A status is new.",
        "response-removed": "A status is gone.",
        "header-added": "A response header is new.",
        "header-removed": "A response header is gone.",
        "header-required": "A response header is always sent.",
        "header-optional": "A response header may be left out.",
        "security-narrowed": "A credential that was enough is not.",
        "security-widened": "Another credential is enough.",
        "scheme-added": "A security scheme is new.",
        "scheme-removed": "A security scheme is gone.",
        "scheme-address": "Clients sign in at another address.",
        "scope-added": "Another scope can be asked for.",
        "scope-removed": "A scope cannot be asked for any more.",
        "server-added": "The service has one address more.",
        "server-removed": "The service no longer has an address.",
        "callback-added": "The service sends a request to an address that the client names.",
        "callback-removed": "The service no longer sends a request to an address that the client names.",
        "callback-address": "A client names the address of a callback elsewhere.",
        "webhook-added": "The service sends a request on an event.",
        "webhook-removed": "The service no longer sends a request on an event.",
        "flow-added": "Tokens can be had in one way more.",
        "flow-removed": "Tokens cannot be had in a way any more.",
        "member-added": "An object has one member more.",
        "member-removed": "An object no longer has a member.",
        "member-required": "A member must be there.",
        "member-optional": "A member may be left out.",
        "members-closed": "An object takes no other members.",
        "members-opened": "An object takes other members.",
        "type": "A value has other types.",
        "null": "A value may be null, or no longer.",
        "enum": "A value is one of others.",
        "bound": "The least or the greatest value, length or number is another.",
        "pattern": "A text has another pattern.",
        "format": "A value has another format.",
        "default": "A value that is left out means something else.",
        "alternative-added": "A value has one alternative more.",
        "alternative-removed": "A value has one alternative less.",
        "discriminator": "Another member tells alternatives apart.",
        "keyword": "A keyword of the schema is another.",
    }
)
"""Each kind of change, and what it means in one sentence."""


_LABELLED: Final = frozenset({"type", "format", "pattern", "default", "keyword"})
"""Kinds that a message names before the values, which are not clear without it."""

_PRESENCES: Final = frozenset({"required", "optional"})


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One change between an older and a newer document.

    Attributes:
        kind: Its kind, one of ``STATEMENTS``.
        place: The part of the operation, such as ``query parameter size``, ``security`` or
            ``response 200 application/json``; empty for the operation itself.
        breaks: The clients of the older document that the newer one breaks.
        before: The older document's value; empty where it has none.
        after: The newer document's value; empty where it has none.
        operation: Method and path as in the newer document; empty for the whole document.
        member: Path of the member in a body, such as ``emails[].address``; empty for the whole.
        pointer: JSON pointer of the place, in the older document if it is removed.
    """

    kind: str
    place: str = ""
    breaks: frozenset[Audience] = NO_CLIENT
    before: str = ""
    after: str = ""
    operation: str = ""
    member: str = ""
    pointer: str = ""

    @property
    def is_breaking(self) -> bool:
        """True if the newer document breaks any client of the older one."""
        return bool(self.breaks)

    @property
    def where(self) -> str:
        """The operation, its part and the member."""
        member = f"member {self.member}" if self.member else ""
        return ": ".join(part for part in (self.operation, self.place, member) if part)

    @property
    def difference(self) -> str:
        """Both values, or the statement of the kind where it has none."""
        label = f"{self.kind} " if self.kind in _LABELLED else ""
        if self.kind.endswith("-added") and self.after in _PRESENCES:
            return f"new, and {self.after}"
        if self.before and self.after:
            return f"{label}{self.after}, was {self.before}"
        if self.after:
            return f"{label}{self.after} is new"
        if self.before:
            return f"{label}{self.before} is gone"
        return STATEMENTS[self.kind].rstrip(".").lower()

    @property
    def summary(self) -> str:
        """One line for lists and annotations."""
        return f"{self.where}: {self.difference}"

    @property
    def fingerprint(self) -> str:
        """A hash that the same change has in every run, as baselines keep it."""
        operation = path_shape(self.operation)
        parts = (self.kind, operation, self.place, self.member, self.before, self.after)
        return sha256("\n".join(parts).encode()).hexdigest()[:16]


def presence_changes(
    change: DocumentChange, old: Collection[str], new: Collection[str]
) -> Iterator[DocumentChange]:
    """Yields a change for each value that is removed or added.

    Args:
        change: The template: its kind lacks ``-removed`` or ``-added``, and a removed value breaks
            its clients.
        old: The values of the older document.
        new: The values of the newer document.
    """
    for value in old:
        if value not in new:
            yield replace(change, kind=f"{change.kind}-removed", before=value)
    for value in new:
        if value not in old:
            yield replace(change, kind=f"{change.kind}-added", breaks=NO_CLIENT, after=value)
