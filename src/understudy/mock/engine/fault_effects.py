"""What faults do to an answer: functions of a reply that is whole and not yet sent."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from understudy.mock.engine.faults import Effect


class Reply(NamedTuple):
    """An answer as ASGI would send it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Inapplicable(Exception):
    """The answer has nothing that the effect could strike; the text says what it lacks."""


def affected(reply: Reply, effect: Effect, field: str | None, stale: Any = None) -> Reply:
    """Returns what becomes of a reply by an effect that is in its bytes.

    Args:
        reply: The answer as it would be.
        effect: A key of EFFECTS; one that is in the connection leaves the bytes as they are.
        field: Where it strikes.
        stale: The answer as the fixtures alone would give it, for ``stale-field``.

    Raises:
        Inapplicable: There is nothing to strike.
    """
    if effect == "malformed-json":
        return _with_body(reply, reply.body[:-1] + b"," if reply.body else b"{")
    if effect == "wrong-content-type":
        headers = [pair for pair in reply.headers if pair[0] != b"content-type"]
        return reply._replace(headers=[*headers, (b"content-type", b"text/html; charset=utf-8")])
    change = _FIELD_EFFECTS.get(effect)
    if change is None:
        return reply
    try:
        value = orjson.loads(reply.body)
    except ValueError:
        msg = "the body is no JSON"
        raise Inapplicable(msg) from None
    owner, name = _found(value, field or "")
    change(owner, name, stale)
    return _with_body(reply, orjson.dumps(value))


def _found(value: Any, field: str) -> tuple[Any, Any]:
    """Returns what holds a field, and its key there."""
    *steps, last = field.split(".")
    for step in steps:
        value = _member(value, step, field)
    if isinstance(value, list):
        if not value:
            msg = f"there is no {field!r} in the answer"
            raise Inapplicable(msg)
        if not last.isdecimal():  # a list of records: the first one's
            return _found(value[0], last)
        return value, int(last)
    return value, last


def _member(value: Any, step: str, field: str) -> Any:
    try:
        return value[int(step)] if isinstance(value, list) else value[step]
    except (LookupError, TypeError, ValueError):
        msg = f"there is no {field!r} in the answer"
        raise Inapplicable(msg) from None


def _expect(owner: Any, name: Any) -> None:
    if not (isinstance(owner, dict) and name in owner):
        msg = f"there is no {name!r} in the answer"
        raise Inapplicable(msg)


def _drop(owner: Any, name: Any, _stale: Any) -> None:
    _expect(owner, name)
    del owner[name]


def _null(owner: Any, name: Any, _stale: Any) -> None:
    _expect(owner, name)
    owner[name] = None


def _retype(owner: Any, name: Any, _stale: Any) -> None:
    _expect(owner, name)
    owner[name] = 7 if isinstance(owner[name], str) else "seven"


def _add(owner: Any, _name: Any, _stale: Any) -> None:
    if not isinstance(owner, dict):
        msg = "the answer is no object"
        raise Inapplicable(msg)
    owner["x_unexpected"] = True


def _age(owner: Any, name: Any, stale: Any) -> None:
    _expect(owner, name)
    if not (isinstance(stale, dict) and name in stale):
        msg = f"the fixtures have no {name!r} for it"
        raise Inapplicable(msg)
    owner[name] = stale[name]


_FIELD_EFFECTS: Mapping[str, Callable[[Any, Any, Any], None]] = {
    "missing-field": _drop,
    "null-field": _null,
    "wrong-type": _retype,
    "extra-field": _add,
    "stale-field": _age,
}


def _with_body(reply: Reply, body: bytes) -> Reply:
    headers = [pair for pair in reply.headers if pair[0] != b"content-length"]
    return Reply(reply.status, [*headers, (b"content-length", str(len(body)).encode())], body)
