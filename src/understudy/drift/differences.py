"""Finds where two deployments differ, apart from noise that differs between any two runs."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final, Literal, NamedTuple, get_args
from urllib.parse import parse_qsl

from PIL import Image, UnidentifiedImageError

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import PROFILES
from understudy.verify.gateway import BOOKKEEPING
from understudy.verify.history import AGAIN, REDIRECTS
from understudy.verify.permits import SAFE
from understudy.verify.rate_limit_history import count_in, counted_alike

# Reduces a response to the aspects that a client can rely on: status, error code, members with
# their types, headers by their meaning, pictures by kind and size. The bytes cannot be compared, as
# identifiers, dates, tokens and people differ between any two deployments.

Aspects = Mapping[str, str]
"""Name of an aspect, such as ``status`` or ``member rating``, to its value."""

PRESENT: Final = "present"
DEEPEST: Final = 6
"""Levels of nested members that are compared."""

DECISIVE: Final = ("status", "media type", "error code")
"""Aspects on which the rest of the response depends: where one differs, no others are compared."""

_BY_VALUE: Final = ("allow", "cache-control", "x-frame-options")
"""Headers whose whole value a client can rely on; X-Content-Type-Options is not among them, as the mock
sends it with every response for its own protection."""

_BY_PRESENCE: Final = ("etag", "last-modified", "retry-after", "vary")
"""Headers whose value differs from response to response."""

_CHARSET: Final = re.compile(r"charset=\"?([\w.-]+)", re.IGNORECASE)
_UTF_8: Final = frozenset({"utf-8", "utf8", "us-ascii"})
"""Names of UTF-8, the encoding of JSON, and of its subset ASCII."""

_CODE: Final = re.compile(r"[\w.-]{1,60}")
"""An error code. Text with spaces is a sentence for people, and is not compared."""


def aspects(exchange: Exchange) -> Aspects:
    """Returns the aspects of a response, the decisive ones first."""
    return {
        "status": str(exchange.status),
        "media type": _media_type(exchange),
        **dict(_of_error(exchange)),
        **dict(_of_redirect(exchange)),
        **dict(_of_headers(exchange)),
        **dict(_of_body(exchange)),
    }


def _media_type(exchange: Exchange) -> str:
    """Returns the media type of a body; bodies of redirects are ignored, as no client reads them."""
    response = exchange.response
    if not response.body or exchange.status in REDIRECTS:
        return "no body"
    return response.media_type or "none"


def is_personal(exchange: Exchange, aspect: str) -> bool:
    """Tells whether the presence of an aspect depends on the person, not on the deployment."""
    return exchange.operation in PROFILES and aspect.startswith("member ")


def _of_headers(exchange: Exchange) -> Iterator[tuple[str, str]]:
    response = exchange.response
    for name in _BY_VALUE:
        if response.header(name):
            yield f"header {name}", _in_order(response.header(name))
    for name in _BY_PRESENCE:
        if response.header(name):
            yield f"header {name}", PRESENT
    charset = _CHARSET.search(response.header("content-type"))
    if charset is not None and charset[1].lower() not in _UTF_8:
        yield "header content-type charset", charset[1].lower()
    challenge = response.header("www-authenticate")
    if challenge:
        yield "header www-authenticate", challenge.partition(" ")[0].lower()


def _of_redirect(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yields the names of the parameters that a redirect carries."""
    location = exchange.location
    for place, text in (("query", location.query), ("fragment", location.fragment)):
        names = sorted({name for name, _ in parse_qsl(text, keep_blank_values=True)})
        if names:
            yield f"redirect {place}", ", ".join(names)


def _in_order(text: str) -> str:
    """Returns a list in a header in lower case and in order, as its order means nothing."""
    return ", ".join(sorted(part.strip().lower() for part in text.split(",")))


def _of_error(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yields the error code: member ``code`` of the resource API, or ``error`` (RFC 6749, 5.2)."""
    if exchange.response.is_success:
        return
    name = "error" if exchange.site == "authorization" else "code"
    code = exchange.json_object.get(name) or exchange.redirect_parameters.get("error")
    if isinstance(code, str) and _CODE.fullmatch(code):
        yield "error code", code


def _of_body(exchange: Exchange) -> Iterator[tuple[str, str]]:
    if exchange.response.media_type.startswith("image/"):
        yield "picture", _picture(exchange.response.body)
    elif exchange.body is not NO_JSON and exchange.operation != "GET /openapi":
        yield from _members("", exchange.body, DEEPEST)


def _picture(content: bytes) -> str:
    try:
        with Image.open(BytesIO(content)) as image:
            return f"{image.format} {image.width}x{image.height}"
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        return "unreadable"


def _members(path: str, value: Any, levels: int) -> Iterator[tuple[str, str]]:
    """Yields the types of a value and its members; the items of a list are merged into one."""
    yield f"member {path or 'body'}", _type(value)
    if not levels:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _members(f"{path}.{name}" if path else name, member, levels - 1)
    elif isinstance(value, list):
        merged: dict[str, set[str]] = {}
        for item in value:
            for name, kind in _members(f"{path}[]", item, levels - 1):
                merged.setdefault(name, set()).add(kind)
        yield from ((name, " or ".join(sorted(kinds))) for name, kinds in merged.items())


def _type(value: Any) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", str: "text", list: "list"}
    return "null" if value is None else kinds.get(type(value), "object")


ABSENT = "absent"

DifferenceKey = tuple[int, int, str]
"""The numbers of the two exchanges of a difference, and its aspect."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An aspect in which the responses of two deployments to one request differ.

    Attributes:
        aspect: The name of the aspect.
        ours: Its value at the deployment, in both runs.
        theirs: Its value at the other deployment.
        exchange: The exchange with the deployment.
        other: The exchange with the other deployment.
        is_of_second_run: True if only the second run shows it, and ``exchange`` is of that run.
        after: Where a repeated response is the cause: the exchange that got it first, and that of
            the other deployment if it was compared.
    """

    aspect: str
    ours: str
    theirs: str
    exchange: Exchange
    other: Exchange
    is_of_second_run: bool = False
    after: tuple[Exchange, ...] = ()

    @property
    def key(self) -> DifferenceKey:
        """The key of the difference among those of a comparison."""
        return self.exchange.number, self.other.number, self.aspect


Fault = Literal["deployment", "other", "documents", "silent", "unexplained", "unsteady", "learnt"]
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)
"""Every value of ``Fault``, in the order of reports."""

NOTED: Final[frozenset[Fault]] = frozenset({"silent", "unsteady"})
"""Faults that reports list as notes, not as findings: open by the contract, or seen only once."""


class DocumentEntry(NamedTuple):
    """A change between two documents that explains a difference.

    Attributes:
        name: Name in reports.
        statement: One sentence on the change.
    """

    name: str
    statement: str


ExplainedBy = Callable[[Difference], DocumentEntry | None]
"""Returns the change of the documents that explains a difference, or None."""


class Compared(NamedTuple):
    """The exchanges of one request: two runs at the deployment, and one at the other deployment.

    Attributes:
        first: The exchange with the deployment.
        second: The exchange of its second run.
        other: The exchange with the other deployment.
        related: The relations of the three responses to earlier exchanges of their senders.
    """

    first: Exchange
    second: Exchange
    other: Exchange
    related: tuple[Aspects, Aspects, Aspects] = ({}, {}, {})


def compared(
    first: Sequence[Exchange], second: Sequence[Exchange], other: Sequence[Exchange]
) -> Iterator[Compared]:
    """Yields the exchanges of three runs that can be compared, matched by sender and order.

    A sender is followed as long as all three runs send the same requests: after a response that
    differs, the next requests may depend on it.
    """
    again, theirs = _by_sender(second), _by_sender(other)
    for sender, exchanges in _by_sender(first).items():
        rows = zip(exchanges, again.get(sender, ()), theirs.get(sender, ()), strict=False)
        related = zip(
            relations(exchanges, first),
            relations(again.get(sender, ()), second),
            relations(theirs.get(sender, ()), other),
            strict=False,
        )
        for row, relating in zip(rows, related, strict=True):
            if len(set(map(_comparable, row))) > 1:
                break
            yield Compared(*row, relating)


def differences(exchanges: Compared, *, are_people_alike: bool = False) -> Iterator[Difference]:
    """Yields the stable differences of one request; an aspect that differs between runs is noise.

    Args:
        exchanges: The exchanges of the request.
        are_people_alike: True if both have the same people, so that optional members are compared.
    """
    first, second, other, (related, related_again, related_there) = exchanges
    ours, again, theirs = aspects(first), aspects(second), aspects(other)
    for aspect in dict.fromkeys((*ours, *theirs)):
        values = ours.get(aspect, ABSENT), theirs.get(aspect, ABSENT)
        is_noise = again.get(aspect, ABSENT) != values[0]
        if is_noise or values[0] == values[1]:
            continue
        if not are_people_alike and ABSENT in values and is_personal(first, aspect):
            continue
        yield Difference(aspect, *values, first, other)
        if aspect in DECISIVE:
            return
    for aspect in related.keys() & related_again.keys() & related_there.keys():
        is_stable = related[aspect] == related_again[aspect]
        if is_stable and related[aspect] != related_there[aspect]:
            yield Difference(aspect, related[aspect], related_there[aspect], first, other)


def senders(exchanges: Sequence[Exchange]) -> frozenset[str]:
    """Returns the senders whose requests can be compared."""
    return frozenset(_by_sender(exchanges))


def _by_sender(exchanges: Sequence[Exchange]) -> dict[str, list[Exchange]]:
    senders: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        if exchange.source not in {*BOOKKEEPING, AGAIN} and not _is_page(exchange):
            senders.setdefault(exchange.source, []).append(exchange)
    return senders


def _is_page(exchange: Exchange) -> bool:
    """Tells whether an exchange is a page of the sign-in, which each deployment designs freely.

    Only a browser asks for pages: where the authorization server has the address of the resource API,
    the pictures and pages of profiles are below it too.
    """
    is_elsewhere = exchange.site != "authorization" or exchange.operation
    is_of_browser = "text/html" in exchange.request.header("accept")
    return is_of_browser and not is_elsewhere and not _leads_to_client(exchange)


def _leads_to_client(exchange: Exchange) -> bool:
    """Tells whether a redirect carries a code, a token or an error to the client."""
    return not {"code", "access_token", "error"}.isdisjoint(exchange.redirect_parameters)


def _comparable(exchange: Exchange) -> tuple[str, str, str]:
    """Returns a key that is equal for requests whose responses can be compared."""
    if _leads_to_client(exchange) and not exchange.operation:
        return "", "redirect to the client", ""
    return exchange.request.method, exchange.operation, exchange.identity.name


# Reduces a response to its relations to earlier exchanges of its sender. Texts and identifiers
# differ between two deployments, but at both of them a written value is read back, a list grows by
# the number of added items, and an unchanged resource stays the same.

AS_SENT: Final = "as sent"
OTHERWISE: Final = "otherwise"
AS_BEFORE: Final = "as before"
CHANGED: Final = "changed"

COUNTED_REQUESTS: Final = "requests counted since the last one"
"""Aspect: by how much the rest of an hourly limit fell since the request before."""

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_ISSUED: Final = re.compile(r"(^|_)(id|hash|token|code)$")
"""Ends of the names of members whose values a deployment generates."""

_Key = tuple[object, ...]


def is_relation(aspect: str) -> bool:
    """Tells whether an aspect is a relation to earlier exchanges."""
    is_read = aspect.startswith("read back ") or aspect.endswith("since the last read")
    return is_read or aspect == COUNTED_REQUESTS


def relations(exchanges: Sequence[Exchange], run: Sequence[Exchange]) -> list[Aspects]:
    """Returns the relations of each response of one sender.

    Args:
        exchanges: The exchanges of the sender, in order.
        run: All exchanges of the run: after a write of another sender nothing can be related.
    """
    writes = [it.number for it in run if _is_write(it)]
    own = {it.number for it in exchanges}
    relating = _Relating([number for number in writes if number not in own])
    before = (None, *exchanges)
    return [
        {**dict(relating.of(exchange)), **dict(_counted(last, exchange))}
        for last, exchange in zip(before, exchanges, strict=False)
    ]


class _Relating:
    """Remembers the reads and writes of one sender.

    Args:
        disturbing: Numbers of the successful writes of other senders, in order.
    """

    def __init__(self, disturbing: Sequence[int]) -> None:
        self._disturbing = disturbing
        self._read: dict[_Key, Exchange] = {}
        self._written: dict[_Key, dict[str, tuple[int, Any]]] = {}

    def of(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        """Yields the relations of the next exchange."""
        if not exchange.response.is_success:
            return
        if exchange.request.method in SAFE:
            before = self._read.get(_key(exchange))
            if before is not None and self._is_undisturbed(before.number, exchange):
                yield from _since(before, exchange)
            self._read[_key(exchange)] = exchange
        else:
            self._note_written(exchange)
        for owner, members in _objects(exchange):
            written = self._written.get(owner, {})
            for name in written.keys() & members.keys():
                number, value = written[name]
                if self._is_undisturbed(number, exchange):
                    yield f"read back {name}", AS_SENT if value == members[name] else OTHERWISE

    def _note_written(self, exchange: Exchange) -> None:
        sent = exchange.request.json
        if isinstance(sent, dict):
            members = self._written.setdefault((exchange.identity.account, exchange.value), {})
            members |= {name: (exchange.number, value) for name, value in sent.items()}

    def _is_undisturbed(self, number: int, exchange: Exchange) -> bool:
        """Tells whether no other sender wrote between the exchange with a number and this one."""
        place = bisect_right(self._disturbing, number)
        return place == len(self._disturbing) or self._disturbing[place] > exchange.number


def _counted(before: Exchange | None, exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yields how many requests a limit counted between two exchanges that directly follow."""
    if before is None or exchange.number != before.number + 1:
        return
    left, now = count_in(before), count_in(exchange)
    if left is None or now is None or not counted_alike(exchange, before):
        return
    if left.reset == now.reset:
        yield COUNTED_REQUESTS, str(left.remaining - now.remaining)


def _is_write(exchange: Exchange) -> bool:
    is_change = exchange.request.method not in SAFE and exchange.response.is_success
    return is_change and exchange.site == "resource"


def _key(exchange: Exchange) -> _Key:
    request = exchange.request
    return exchange.operation, exchange.values, exchange.identity.name, request.pairs


def _objects(exchange: Exchange) -> Iterator[tuple[_Key, Mapping[str, Any]]]:
    """Yields the JSON objects of a response, each with its owner: the account and the avatar."""
    account, body = exchange.identity.account, exchange.body
    for item in body if isinstance(body, list) else [body]:
        if isinstance(item, dict):
            yield (account, str(item.get("image_id", ""))), item


def _since(before: Exchange, exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yields what changed between two reads of the same resource."""
    if exchange.response.media_type.startswith("image/"):
        is_same = exchange.response.body == before.response.body
        yield "since the last read", AS_BEFORE if is_same else CHANGED
    if isinstance(exchange.body, list) and isinstance(before.body, list):
        yield "length since the last read", f"{len(exchange.body) - len(before.body):+d}"
    for name, value in exchange.json_object.items():
        if name in before.json_object and _is_lasting(name, value):
            is_same = value == before.json_object[name]
            yield f"{name} since the last read", AS_BEFORE if is_same else CHANGED


def _is_lasting(name: str, value: Any) -> bool:
    """Tells whether a value is personal data, and not a date, a URL or an identifier."""
    if _ISSUED.search(name):
        return False
    if isinstance(value, str):
        return "://" not in value and not _DATE.match(value)
    return isinstance(value, bool)
