"""Holds requests to their conditions (RFC 9110, 13), where the document declares these."""

from understudy.errors import PreconditionFailed
from understudy.mock.collections.bound import OVERRIDE, BoundCall
from understudy.mock.collections.responses import etag
from understudy.mock.server.call import HandlerResponse
from understudy.mock.store.items import Item

_FAILED = 412
_NOT_MODIFIED = 304


def expect_match(bound: BoundCall, item: Item | None) -> None:
    """Accepts a request that changes the item which its client has seen.

    Raises:
        PreconditionFailed: ``If-Match`` names another state of it, or ``If-None-Match: *`` forbids
            one that exists.
    """
    if not bound.declares(_FAILED):
        return
    expected = bound.call.headers.get(b"if-match")
    if expected is not None and not (item is not None and _matches(expected, item)):
        current = "there is no item" if item is None else f"the item has {etag(item)}"
        msg = f"If-Match is {expected.decode('latin-1'):.80}, and {current}; read it again."
        raise PreconditionFailed(msg, code="precondition_failed")
    if item is not None and bound.call.headers.get(b"if-none-match") == b"*":
        msg = "If-None-Match is *, and the item exists already."
        raise PreconditionFailed(msg, code="precondition_failed")


def not_modified(bound: BoundCall, item: Item) -> HandlerResponse | None:
    """Returns 304 where it is declared and the client has this state of the item, else None."""
    seen = bound.call.headers.get(b"if-none-match")
    if seen is None or not bound.declares(_NOT_MODIFIED) or not _matches(seen, item):
        return None
    return HandlerResponse(None, _NOT_MODIFIED, headers=(("etag", etag(item)), OVERRIDE))


def _matches(header: bytes, item: Item) -> bool:
    """Tells whether a list of entity tags has the one of an item, or is ``*``."""
    tags = [tag.strip().removeprefix("W/") for tag in header.decode("latin-1").split(",")]
    return tags == ["*"] or etag(item) in tags
