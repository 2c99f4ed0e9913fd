"""Injected faults and stubs as values: the requests that match, how often, and the effect.

A stub is stored as a kind of fault, so that persistence, sharing and undo serve both. Which matching
requests get a fault depends on the world's seed, the fault's id and the number of matching requests
before, so the same requests get the same faults in every run.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from random import Random  # noqa: TID251 - drawn from the world's seed
from typing import Annotated, Any, Final, Literal, NamedTuple

import orjson
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from understudy.limits import Count
from understudy.mock.server.json_bodies import json_bytes

MOST_EVENTS: Final = 10_000
"""Items of a stream that a preference or a stub may ask for."""

MOST_FIELD_CHARACTERS: Final = 200
"""Characters of the name of a fault's member, or of the path to it."""

Milliseconds = Annotated[float, Meta(ge=0, le=60_000)]
Seconds = Annotated[float, Meta(ge=0, le=60)]


class Delay(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Added latency in milliseconds, with WireMock's names.

    Attributes:
        type: ``fixed``, ``uniform`` or, with a long tail, ``lognormal``.
        milliseconds: Latency of a ``fixed`` delay.
        lower: Lower bound of a ``uniform`` delay.
        upper: Upper bound of a ``uniform`` delay.
        median: Median of a ``lognormal`` delay.
        sigma: Standard deviation of the logarithm of a ``lognormal`` delay.
    """

    type: Literal["fixed", "uniform", "lognormal"] = "fixed"
    milliseconds: Milliseconds = 0
    lower: Milliseconds = 0
    upper: Milliseconds = 0
    median: Milliseconds = 0
    sigma: Annotated[float, Meta(ge=0, le=10)] = 1

    def seconds(self, chance: Random) -> float:
        """Draws the seconds of one delay, at most a minute."""
        drawn = {
            "fixed": lambda: self.milliseconds,
            "uniform": lambda: chance.uniform(self.lower, self.upper),
            "lognormal": lambda: self.median * math.exp(min(self.sigma * chance.gauss(0, 1), 50)),
        }[self.type]()
        return min(max(drawn, 0) / 1000, 60)


_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_TEXT: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,10000}")
_FRAMING: Final = frozenset(
    ("connection", "content-length", "keep-alive", "trailer", "transfer-encoding", "upgrade")
)
"""Headers that frame a message; a stub's own would permit response smuggling (RFC 9112, 11.2)."""

TextCondition = str | dict[str, Any]
"""The whole text to match, or comparison name to operand."""

COMPARISONS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("equalTo", "contains", "doesNotContain", "matches", "doesNotMatch"), str),
    "equalToJson": object,
    **dict.fromkeys(("absent", "caseInsensitive"), bool),
}
"""WireMock's names of the comparisons of a text, with the types of their operands."""


class RequestCondition(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A condition on requests of an operation; an omitted part matches every request.

    Attributes:
        path: Conditions on path parameters, by the document's names.
        query: Conditions on query parameters.
        header: Conditions on headers, with case-insensitive names.
        body: JSON that the body must contain; further members of its objects are ignored.
        person: Slug of the authenticated person.
    """

    path: dict[str, TextCondition] = {}
    query: dict[str, TextCondition] = {}
    header: dict[str, TextCondition] = {}
    body: Any | UnsetType = UNSET
    person: str | None = None

    def __post_init__(self) -> None:
        """Validates the comparisons here, as conditions come from several sources.

        Raises:
            ValueError: A comparison is unknown, or its operand has the wrong type.
        """
        for place in ("path", "query", "header"):
            for name, wanted in getattr(self, place).items():
                if isinstance(wanted, str) or is_comparison(wanted):
                    continue
                msg = (
                    f"{place}.{name}: {str(wanted)[:100]} is no comparison; give the whole text, "
                    f"or {', '.join(COMPARISONS)}"
                )
                raise ValueError(msg)
        for name in self.header:
            if not _NAME.fullmatch(name):
                msg = f"header: {name[:100]!r} is not the name of a header (RFC 9110, 5.1)"
                raise ValueError(msg)


def is_comparison(value: Mapping[str, Any]) -> bool:
    """Tells whether an object holds comparisons of a text, and is no JSON value to compare with."""
    return bool(value) and all(
        isinstance(operand, COMPARISONS.get(name, ())) for name, operand in value.items()
    )


Ending = Literal["end", "stay"]


class StreamPlan(NamedTuple):
    """The number and the times of a stream's items.

    Attributes:
        events: Number of items; None: those of the body.
        interval: Seconds between two items; None: 0.
        then: Whether the stream ends after the last item, or stays open until the client disconnects;
            None: it ends.
    """

    events: int | None = None
    interval: float | None = None
    then: Ending | None = None

    def over(self, other: "StreamPlan") -> "StreamPlan":
        """Returns this plan, completed by another."""
        given = {name: value for name, value in self._asdict().items() if value is not None}
        return other._replace(**given)


NO_PLAN: Final = StreamPlan()


class StubResponse(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A response of a stub; omitted parts are those of the mock's own response.

    Attributes:
        status: Status of the response.
        headers: Further headers; ``content-type`` chooses the media type.
        body: JSON body, or the text of another media type.
        merge: JSON Merge Patch of the mock's own body (RFC 7396).
        events: Number of items of a stream; those of the body by default.
        interval: Seconds between two items of a stream.
        then: Whether a stream ends after the last item (``end``) or stays open (``stay``).
    """

    status: Annotated[int, Meta(ge=200, le=599)] | None = None
    headers: dict[str, str] = {}
    body: Any | UnsetType = UNSET
    merge: Any | UnsetType = UNSET
    events: Annotated[int, Meta(ge=0, le=MOST_EVENTS)] | None = None
    interval: Seconds | None = None
    then: Ending | None = None

    @property
    def stream(self) -> StreamPlan:
        """The number and the times of the items, if the response is a stream."""
        return StreamPlan(self.events, self.interval, self.then)

    def __post_init__(self) -> None:
        """Validates the headers here, as stubs come from several sources.

        Raises:
            ValueError: A header is not a valid field, or frames the message.
        """
        for name, text in self.headers.items():
            if not _NAME.fullmatch(name) or not _TEXT.fullmatch(text):
                msg = f"headers: {name[:100]!r}: {text[:100]!r} is not a header field (RFC 9110, 5)"
                raise ValueError(msg)
            if name.lower() in _FRAMING:
                msg = f"headers: {name} is written by the server; leave it out"
                raise ValueError(msg)


class Stub(Struct, frozen=True, dict=True, forbid_unknown_fields=True, omit_defaults=True):
    """Responses to requests of one operation, instead of the mock's own.

    Attributes:
        responses: Responses to send in turn; the last one is repeated.
        when: Condition on the requests that get them.
        allow_invalid: Whether a response may break the document.
        before_validation: Whether requests that the mock would refuse (401, 403, 429, 400) get them, too.
        until_changed: Whether the stub is deleted by the next write request of an authenticated person.
    """

    responses: Annotated[tuple[StubResponse, ...], Meta(min_length=1, max_length=100)]
    when: RequestCondition = RequestCondition()
    allow_invalid: bool = False
    before_validation: bool = False
    until_changed: bool = False

    @cached_property  # read by each request of a world with stubs
    def is_planned(self) -> bool:
        """True if a response plans how it is sent as a stream."""
        return any(response.stream != NO_PLAN for response in self.responses)


class Fault(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One fault in force, or one stub.

    Attributes:
        id: Name of the fault in ``X-Mock-Fault`` and in the admin API.
        operation: operationId of the matching requests; None: every operation.
        person: Slug of the authenticated person; None: any client.
        header: Headers that a request must have, with case-insensitive names.
        share: Share of the matching requests that get the fault, from 0 to 1.
        times: Number of further requests that get the fault; None: until it is removed.
        delay: Latency added before the response.
        status: Status of the response, with a body that is valid by the document.
        effect: Change of the response: a key of EFFECTS.
        field: Member that the effect changes, or a path such as ``verified_accounts.0.url``.
        seconds: Seconds over which a slow body is sent.
        met: Number of matching requests so far.
        struck: Number of requests that got the fault; of a stub, number of responses sent.
        stub: Responses of a stub; None: a fault.
    """

    id: Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,39}\\Z")]
    operation: str | None = None
    person: str | None = None
    header: dict[str, str] = {}
    share: Annotated[float, Meta(ge=0, le=1)] = 1.0
    times: Count | None = None
    delay: Delay | None = None
    status: Annotated[int, Meta(ge=200, le=599)] | None = None
    effect: str | None = None
    field: Annotated[str, Meta(min_length=1, max_length=MOST_FIELD_CHARACTERS)] | None = None
    seconds: Seconds = 5.0
    met: Count = 0
    struck: Count = 0
    stub: Stub | None = None

    def draw(self, seed: int) -> tuple["Fault", float | None]:
        """Draws whether the next matching request gets the fault.

        Returns:
            The fault with updated counts, and the seconds of its delay; None instead of the seconds if
            the request does not get the fault.
        """
        chance = Random(f"{seed} {self.id} {self.met}")
        met = replace(self, met=self.met + 1)
        if self.times == 0 or chance.random() >= self.share:
            return met, None
        left = None if self.times is None else self.times - 1
        delay = self.delay.seconds(chance) if self.delay else 0.0
        return replace(met, times=left, struck=self.struck + 1), delay


# To add an effect on the bytes of a response, add its row to EFFECTS and its name to
# ``openapi/admin.yaml`` (a test compares the two). Effects on the connection or on stored data
# (``reset``, ``truncate``, ``slow``, ``stale-field``, ``fail-after``) are implemented in
# ``fault_injection``.


class WireResponse(Struct, frozen=True):  # a Struct is made in C, which counts once per request
    """A complete, encoded response.

    Attributes:
        status: HTTP status.
        headers: Header fields, with names in lower case.
        body: Bytes of the body; empty for no content.
    """

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes


class EffectNotApplicable(Exception):
    """The response has nothing that the effect could change; the text says why."""


MemberChange = Callable[[Any, Any, Any], None]
"""Changes a member in place: gets its object or list, its key, and the body without any writes."""


class Effect(NamedTuple):
    """One kind of fault.

    Attributes:
        description: Effect that a client sees.
        change_response: Returns the changed response.
        change_member: Changes the member that the fault names.
        needs_field: Whether the fault must name a member.
    """

    description: str
    change_response: Callable[[WireResponse], WireResponse] | None = None
    change_member: MemberChange | None = None
    needs_field: bool = False


def apply_effect(
    response: WireResponse, effect: str, field: str | None, stale: Any = None
) -> WireResponse:
    """Returns a response with an effect applied.

    Args:
        response: Response without the effect.
        effect: Key of EFFECTS; an effect on the connection leaves the response unchanged.
        field: Member to change, or the path to it.
        stale: Body that the fixtures without any writes would give, for ``stale-field``.

    Raises:
        EffectNotApplicable: The response has nothing to change.
    """
    kind = EFFECTS[effect]
    if kind.change_response is not None:
        return kind.change_response(response)
    if kind.change_member is None:
        return response
    try:
        value = orjson.loads(response.body)
    except ValueError:
        msg = "the body is not JSON"
        raise EffectNotApplicable(msg) from None
    owner, name = _owner_of(value, field or "")
    if kind.needs_field and not (isinstance(owner, dict) and name in owner):
        msg = f"there is no {name!r} in the response"
        raise EffectNotApplicable(msg)
    kind.change_member(owner, name, stale)
    return _with_body(response, json_bytes(value))


def _owner_of(value: Any, field: str) -> tuple[Any, Any]:
    """Returns the object or list that contains a field, and the field's key in it."""
    *steps, last = field.split(".")
    for step in steps:
        value = _member(value, step, field)
    if isinstance(value, list):
        if not value:
            msg = f"there is no {field!r} in the response"
            raise EffectNotApplicable(msg)
        if not last.isdecimal():  # a list of records: take the field of the first record
            return _owner_of(value[0], last)
    return value, last


def _member(value: Any, step: str, field: str) -> Any:
    try:
        return value[int(step)] if isinstance(value, list) else value[step]
    except (LookupError, TypeError, ValueError):
        msg = f"there is no {field!r} in the response"
        raise EffectNotApplicable(msg) from None


def _remove(owner: Any, name: Any, _stale: Any) -> None:
    del owner[name]


def _set_null(owner: Any, name: Any, _stale: Any) -> None:
    owner[name] = None


def _change_type(owner: Any, name: Any, _stale: Any) -> None:
    owner[name] = 7 if isinstance(owner[name], str) else "seven"


def _add_unexpected(owner: Any, _name: Any, _stale: Any) -> None:
    if not isinstance(owner, dict):
        msg = "the response body is not a JSON object"
        raise EffectNotApplicable(msg)
    owner["x_unexpected"] = True


def _make_stale(owner: Any, name: Any, stale: Any) -> None:
    if not (isinstance(stale, dict) and name in stale):
        msg = f"the fixtures have no {name!r} for it"
        raise EffectNotApplicable(msg)
    owner[name] = stale[name]


def _break_json(response: WireResponse) -> WireResponse:
    return _with_body(response, response.body[:-1] + b"," if response.body else b"{")


def _as_html(response: WireResponse) -> WireResponse:
    headers = [pair for pair in response.headers if pair[0] != b"content-type"]
    return replace(response, headers=[*headers, (b"content-type", b"text/html; charset=utf-8")])


def _with_body(response: WireResponse, body: bytes) -> WireResponse:
    headers = [pair for pair in response.headers if pair[0] != b"content-length"]
    length = (b"content-length", str(len(body)).encode())
    return WireResponse(response.status, [*headers, length], body)


EFFECTS: Final[Mapping[str, Effect]] = {
    "reset": Effect("the connection is reset before the response is complete"),
    "truncate": Effect("the connection is closed after half of the body"),
    "slow": Effect("the body is sent in small pieces, over the fault's seconds"),
    "malformed-json": Effect(
        "a body that is not JSON, with the original length and media type",
        change_response=_break_json,
    ),
    "wrong-content-type": Effect(
        "the same body with the media type text/html", change_response=_as_html
    ),
    "missing-field": Effect("the field is left out", change_member=_remove, needs_field=True),
    "null-field": Effect("the field is null", change_member=_set_null, needs_field=True),
    "wrong-type": Effect(
        "the field has a value of another type", change_member=_change_type, needs_field=True
    ),
    "extra-field": Effect(
        "an additional member that the document does not declare", change_member=_add_unexpected
    ),
    "stale-field": Effect(
        "the field has its value from the fixtures, as if later writes were lost",
        change_member=_make_stale,
        needs_field=True,
    ),
    "fail-after": Effect("the request is carried out, and the response is 500"),
}
"""Name of each effect to its implementation."""
