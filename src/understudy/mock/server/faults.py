"""Describes injected faults and stubs as values: which requests one fits, how often, and what it does.

A stub is kept among the faults, so whatever lasts, is shared, undone or packed is so for both. How
often a fault strikes is decided by the world's seed, the fault's id and the number of requests that fitted
before, so the same requests get the same faults in every run.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random  # noqa: TID251 - drawn from the world's seed
from typing import Annotated, Any, Final, Literal, NamedTuple

import orjson
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from understudy.limits import Count
from understudy.mock.server.json_bodies import json_bytes

MOST_FIELD_CHARACTERS: Final = 200
"""The longest name of a member, or path to it, that a fault may change."""

Milliseconds = Annotated[float, Meta(ge=0, le=60_000)]


class Delay(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Added latency, in WireMock's words; milliseconds.

    Attributes:
        type: ``fixed``, ``uniform`` or, with a long tail, ``lognormal``.
        milliseconds: Of a fixed one.
        lower: Of a uniform one.
        upper: Of a uniform one.
        median: Of a long-tailed one.
        sigma: The standard deviation of the logarithm of a ``lognormal`` delay.
    """

    type: Literal["fixed", "uniform", "lognormal"] = "fixed"
    milliseconds: Milliseconds = 0
    lower: Milliseconds = 0
    upper: Milliseconds = 0
    median: Milliseconds = 0
    sigma: Annotated[float, Meta(ge=0, le=10)] = 1

    def seconds(self, chance: Random) -> float:
        """Draws one delay, in seconds; at most a minute."""
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
"""Headers that say where a message ends: a second one would let two readers disagree (RFC 9112, 11.2)."""

TextCondition = str | dict[str, Any]
"""The whole text, or comparisons by name."""

COMPARISONS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("equalTo", "contains", "doesNotContain", "matches", "doesNotMatch"), str),
    "equalToJson": object,
    **dict.fromkeys(("absent", "caseInsensitive"), bool),
}
"""Comparisons of a text by name, as WireMock has them, with the type of what a text is compared with."""


class RequestCondition(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Describes requests of an operation; what is left out fits every one.

    Attributes:
        path: Texts of path parameters, by the document's names.
        query: Texts of query parameters.
        header: Texts of headers, by name in any case.
        body: JSON that the body must contain: an object's members, among others.
        person: Slug of the authenticated person.
    """

    path: dict[str, TextCondition] = {}
    query: dict[str, TextCondition] = {}
    header: dict[str, TextCondition] = {}
    body: Any | UnsetType = UNSET
    person: str | None = None

    def __post_init__(self) -> None:
        """Refuses what is no comparison, by whichever way the condition enters a world.

        Raises:
            ValueError: A comparison is unknown, or lacks the type that it takes.
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
    """Tells whether an object holds comparisons of a text, and not members of JSON."""
    return bool(value) and all(
        isinstance(it, COMPARISONS.get(name, ())) for name, it in value.items()
    )


class StubResponse(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A response of a stub; what it leaves out is the mock's own.

    Attributes:
        status: The status.
        headers: Further headers; ``content-type`` chooses the media type.
        body: The body: JSON, or the text of another media type.
        merge: Changes the mock's own body (JSON Merge Patch, RFC 7396).
    """

    status: Annotated[int, Meta(ge=200, le=599)] | None = None
    headers: dict[str, str] = {}
    body: Any | UnsetType = UNSET
    merge: Any | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuses a header that cannot be sent, by whichever way the stub enters a world.

        Raises:
            ValueError: It is not a field of HTTP, or says how the message is written.
        """
        for name, text in self.headers.items():
            if not _NAME.fullmatch(name) or not _TEXT.fullmatch(text):
                msg = f"headers: {name[:100]!r}: {text[:100]!r} is not a header field (RFC 9110, 5)"
                raise ValueError(msg)
            if name.lower() in _FRAMING:
                msg = f"headers: {name} is written by the server; leave it out"
                raise ValueError(msg)


class Stub(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer to requests of one operation, in place of the mock's own.

    Attributes:
        responses: Answered in turn; the last one again and again.
        when: The requests that it answers.
        allow_invalid: Whether a response may break the document.
        before_validation: Whether it answers what the mock would refuse (401, 403, 429, 400), too.
        until_changed: Whether it ends with the next change that the mock carries out for a person.
    """

    responses: Annotated[tuple[StubResponse, ...], Meta(min_length=1, max_length=100)]
    when: RequestCondition = RequestCondition()
    allow_invalid: bool = False
    before_validation: bool = False
    until_changed: bool = False


class Fault(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One fault in force, or one stub.

    Attributes:
        id: Names it in ``X-Mock-Fault`` and in the admin API.
        operation: The operationId of the requests that get it; None: every operation.
        person: Slug of the authenticated person; None: any client.
        header: Headers that a request must carry, by name in any case.
        share: Share of the fitting requests that get it, from 0 to 1.
        times: How many more requests get it; None: until it is removed.
        delay: Latency added before the response.
        status: The status of the response, with a body that keeps to the document.
        effect: What is done to the response: a key of EFFECTS.
        field: The member that the effect changes, or a path such as ``verified_accounts.0.url``.
        seconds: How long a slow body takes to send.
        met: Requests that fitted so far.
        struck: Requests that got the fault; of a stub, how many of its responses were given.
        stub: What a stub answers; None: it is a fault.
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
    seconds: Annotated[float, Meta(ge=0, le=60)] = 5.0
    met: Count = 0
    struck: Count = 0
    stub: Stub | None = None

    def draw(self, seed: int) -> tuple["Fault", float | None]:
        """Draws whether the next fitting request gets the fault.

        Args:
            seed: The world's.

        Returns:
            The fault with its counts brought up to date, and the seconds that this request is delayed;
            None: it does not get the fault.
        """
        chance = Random(f"{seed} {self.id} {self.met}")
        met = replace(self, met=self.met + 1)
        if self.times == 0 or chance.random() >= self.share:
            return met, None
        left = None if self.times is None else self.times - 1
        delay = self.delay.seconds(chance) if self.delay else 0.0
        return replace(met, times=left, struck=self.struck + 1), delay


# One table: a kind that changes the bytes of a response is added by its row here and its name in
# ``openapi/admin.yaml`` (a test compares the two). Those in the connection or in what was stored
# (``reset``, ``truncate``, ``slow``, ``stale-field``, ``fail-after``) are carried out by
# ``fault_injection``.


class WireResponse(Struct, frozen=True):  # made for each request, at no call of Python
    """A whole response as it is sent.

    Attributes:
        status: HTTP's.
        headers: Names in lower case.
        body: Empty for no content.
    """

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes


class EffectNotApplicable(Exception):
    """The response has nothing that the effect could change; the text says what it lacks."""


MemberChange = Callable[[Any, Any, Any], None]
"""Changes a member: gets what holds it, its key there, and the body as the fixtures alone give it."""


class Effect(NamedTuple):
    """One kind of fault.

    Attributes:
        description: What a client sees.
        change_response: What it does to the whole response.
        change_member: What it does to the member that the fault names.
        needs_field: Whether the fault must name a member.
    """

    description: str
    change_response: Callable[[WireResponse], WireResponse] | None = None
    change_member: MemberChange | None = None
    needs_field: bool = False


def apply_effect(
    response: WireResponse, effect: str, field: str | None, stale: Any = None
) -> WireResponse:
    """Returns a response as an effect changes it.

    Args:
        response: The response as it would be.
        effect: A key of EFFECTS; one that is in the connection leaves the bytes as they are.
        field: The member that it changes.
        stale: The body as the fixtures alone would give it, for ``stale-field``.

    Raises:
        EffectNotApplicable: There is nothing to change.
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
    """Returns what holds a field, and its key there."""
    *steps, last = field.split(".")
    for step in steps:
        value = _member(value, step, field)
    if isinstance(value, list):
        if not value:
            msg = f"there is no {field!r} in the response"
            raise EffectNotApplicable(msg)
        if not last.isdecimal():  # a list of records: the first one's
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
    "reset": Effect("the connection is reset before the response is whole"),
    "truncate": Effect("half of the body, and then the connection ends"),
    "slow": Effect("the body comes in small pieces, over the fault's seconds"),
    "malformed-json": Effect(
        "a body that is not JSON, of the right length and type", change_response=_break_json
    ),
    "wrong-content-type": Effect("the same body as text/html", change_response=_as_html),
    "missing-field": Effect("without the field", change_member=_remove, needs_field=True),
    "null-field": Effect("null in the field", change_member=_set_null, needs_field=True),
    "wrong-type": Effect(
        "a value of another type in the field", change_member=_change_type, needs_field=True
    ),
    "extra-field": Effect(
        "one more member, which the document does not know", change_member=_add_unexpected
    ),
    "stale-field": Effect(
        "what the field held in the fixtures, whatever was written since",
        change_member=_make_stale,
        needs_field=True,
    ),
    "fail-after": Effect("the request is carried out, and then answered with 500"),
}
"""Name of each kind of fault to what it does."""
