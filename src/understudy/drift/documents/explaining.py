"""Explains a difference of behaviour by a change between the documents of both deployments."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from understudy.drift.differences import Difference
from understudy.drift.documents.changes import DocumentChange
from understudy.exchange.messages import Exchange

_REFUSED: Final = 400
_UNAUTHENTICATED: Final = frozenset({"401", "403"})
_ABSENT_OPERATION: Final = frozenset({"404", "405", "501"})

_PRESENCE: Final = ("operation-added", "operation-removed")
_STATUSES: Final = ("response-added", "response-removed")
_CODES: Final = ("code", "error")
_ALTERNATIVES: Final = ("alternative-added", "alternative-removed")


def explained_by(
    difference: Difference, changes: Iterable[DocumentChange]
) -> DocumentChange | None:
    """Returns the change that explains a difference; None if none does.

    Args:
        difference: What differs between a deployment and another one.
        changes: What differs between the document of the other one, the older, and that of the
            deployment.
    """
    operation = difference.exchange.operation
    explains = _EXPLAINS.get(difference.aspect.partition(" ")[0], _is_of_presence)
    return next(
        (it for it in changes if it.operation == operation and explains(it, difference)), None
    )


def _is_of_presence(change: DocumentChange, difference: Difference) -> bool:
    return change.kind in _PRESENCE and _is_among(difference, _ABSENT_OPERATION)


def _explains_header(change: DocumentChange, difference: Difference) -> bool:
    is_named = change.place.lower().endswith(difference.aspect)
    return is_named and _is_of_response(change, difference)


def _explains_media_type(change: DocumentChange, difference: Difference) -> bool:
    return change.kind.startswith("media-type-") and _is_of_response(change, difference)


def _explains_code(change: DocumentChange, difference: Difference) -> bool:
    is_named = change.member.rpartition(".")[2] in _CODES
    return is_named and _is_of_response(change, difference)


def _explains_member(change: DocumentChange, difference: Difference) -> bool:
    name = difference.aspect.partition(" ")[2]
    is_above = change.kind in _ALTERNATIVES and (
        not change.member or name.startswith(f"{change.member}.")
    )
    is_named = is_above or name == (change.member or "body")
    return is_named and _is_of_response(change, difference)


def _explains_status(change: DocumentChange, difference: Difference) -> bool:
    if change.kind in _PRESENCE:
        return _is_of_presence(change, difference)
    if change.kind in _STATUSES:
        status = change.place.removeprefix("response ")
        return any(_is_of_class(value, status) for value in (difference.ours, difference.theirs))
    if change.place == "security":
        return _is_among(difference, _UNAUTHENTICATED)
    is_of_request = change.place.startswith("request body") or " parameter " in change.place
    return is_of_request and _is_refused_by_one(difference) and _is_touched(change, difference)


def _is_touched(change: DocumentChange, difference: Difference) -> bool:
    """Tells whether a request has the part that a change is about, or lacks one that it needs."""
    exchange = difference.exchange
    if change.place.startswith("request body"):
        return _has_member(exchange, change)
    location, _, name = change.place.partition(" parameter ")
    is_sent = {
        "query": name in exchange.request.query,
        "header": bool(exchange.request.header(name.lower())),
    }.get(location, True)
    return is_sent != _is_demanded(change)


def _has_member(exchange: Exchange, change: DocumentChange) -> bool:
    if not change.member:
        return True
    name = change.member.split(".")[0].removesuffix("[]")
    body = exchange.request.json
    is_sent = name in body if isinstance(body, dict) else name.encode() in exchange.request.body
    return is_sent != _is_demanded(change)


def _is_demanded(change: DocumentChange) -> bool:
    """Tells whether a change is about what a request has to send."""
    return change.kind.endswith("-required") or (
        change.kind.endswith("-added") and change.after == "required"
    )


def _is_of_response(change: DocumentChange, difference: Difference) -> bool:
    """Tells whether a change is about the status of either response, by its class if need be."""
    words = change.place.split(" ")
    statuses = {str(difference.exchange.status), str(difference.other.status)}
    return words[0] == "response" and any(_is_of_class(each, words[1]) for each in statuses)


def _is_of_class(status: str, declared: str) -> bool:
    return declared in {status, f"{status[:1]}XX", "default"}


def _is_among(difference: Difference, statuses: frozenset[str]) -> bool:
    return difference.aspect == "status" and bool({difference.ours, difference.theirs} & statuses)


def _is_refused_by_one(difference: Difference) -> bool:
    return len({int(value) >= _REFUSED for value in (difference.ours, difference.theirs)}) > 1


_EXPLAINS: Final[Mapping[str, Callable[[DocumentChange, Difference], bool]]] = {
    "status": _explains_status,
    "media": _explains_media_type,
    "picture": _explains_media_type,
    "header": _explains_header,
    "member": _explains_member,
    "error": _explains_code,
}
"""First word of an aspect to what tells whether a change explains a difference in it."""
