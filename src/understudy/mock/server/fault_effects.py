"""Defines the kinds of fault that change a response, and what each does to it.

One table: a kind that changes the bytes of a response is added by its row here and its name in
``openapi/admin.yaml`` (a test compares the two). Those in the connection or in what was stored
(``reset``, ``truncate``, ``slow``, ``stale-field``, ``fail-after``) are carried out by
``fault_injection``.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import orjson


class BufferedResponse(NamedTuple):
    """A whole response that is not yet sent, as ASGI would send it."""

    status: int
    headers: list[tuple[bytes, bytes]]
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
    change_response: Callable[[BufferedResponse], BufferedResponse] | None = None
    change_member: MemberChange | None = None
    needs_field: bool = False


def apply_effect(
    response: BufferedResponse, effect: str, field: str | None, stale: Any = None
) -> BufferedResponse:
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
    kind.change_member(owner, name, stale)
    return _with_body(response, orjson.dumps(value))


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
        return value, int(last)
    return value, last


def _member(value: Any, step: str, field: str) -> Any:
    try:
        return value[int(step)] if isinstance(value, list) else value[step]
    except (LookupError, TypeError, ValueError):
        msg = f"there is no {field!r} in the response"
        raise EffectNotApplicable(msg) from None


def _expect_member(owner: Any, name: Any) -> None:
    if not (isinstance(owner, dict) and name in owner):
        msg = f"there is no {name!r} in the response"
        raise EffectNotApplicable(msg)


def _remove(owner: Any, name: Any, _stale: Any) -> None:
    _expect_member(owner, name)
    del owner[name]


def _set_null(owner: Any, name: Any, _stale: Any) -> None:
    _expect_member(owner, name)
    owner[name] = None


def _change_type(owner: Any, name: Any, _stale: Any) -> None:
    _expect_member(owner, name)
    owner[name] = 7 if isinstance(owner[name], str) else "seven"


def _add_unexpected(owner: Any, _name: Any, _stale: Any) -> None:
    if not isinstance(owner, dict):
        msg = "the response body is not a JSON object"
        raise EffectNotApplicable(msg)
    owner["x_unexpected"] = True


def _make_stale(owner: Any, name: Any, stale: Any) -> None:
    _expect_member(owner, name)
    if not (isinstance(stale, dict) and name in stale):
        msg = f"the fixtures have no {name!r} for it"
        raise EffectNotApplicable(msg)
    owner[name] = stale[name]


def _break_json(response: BufferedResponse) -> BufferedResponse:
    return _with_body(response, response.body[:-1] + b"," if response.body else b"{")


def _as_html(response: BufferedResponse) -> BufferedResponse:
    headers = [pair for pair in response.headers if pair[0] != b"content-type"]
    return response._replace(headers=[*headers, (b"content-type", b"text/html; charset=utf-8")])


def _with_body(response: BufferedResponse, body: bytes) -> BufferedResponse:
    headers = [pair for pair in response.headers if pair[0] != b"content-length"]
    length = (b"content-length", str(len(body)).encode())
    return BufferedResponse(response.status, [*headers, length], body)


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
