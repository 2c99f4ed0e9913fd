"""Recognizes requests that were parsed before, so that they are not parsed again.

Clients repeat themselves: they send the same request over and over, or one that differs in its
target, and in what a body of the same length says. What the parser made of the first holds for the
others, as it reads the rest of a head whatever the target is.
"""

import re
from typing import Final, NamedTuple

from understudy.mock.engine.recent import Recent, Recurring
from understudy.mock.engine.request_head import RequestHead

_MOST: Final = 256
"""Requests and heads that are kept parsed: the few that clients send over and over."""

_LONGEST: Final = 2048
"""Bytes of a request, or of a head, that is kept."""

_END: Final = b"\r\n\r\n"

_PLAIN_TARGET: Final = re.compile(
    rb"/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*(?:\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?"
)
"""Matches a target in origin form that RFC 9112, 3.2.1, allows: the parser takes all of them."""


class ParsedRequest(NamedTuple):
    """A request that came whole in one read."""

    head: RequestHead
    body: bytes


class _KnownHead(NamedTuple):
    """A head that was parsed with one target, for others.

    Attributes:
        head: The head.
        target: Its target.
        body_length: Bytes of the body that it announces.
    """

    head: RequestHead
    target: bytes
    body_length: int


class _Split(NamedTuple):
    """The head of a request in two parts.

    Attributes:
        frame: The head without its target.
        target: The target.
        end: The number of bytes of the head.
    """

    frame: bytes
    target: bytes
    end: int


class RecentRequests:
    """The requests that had a direct response lately, as they were parsed."""

    def __init__(self) -> None:
        self._whole: Recent[bytes, ParsedRequest] = Recurring(_MOST)
        self._heads: Recent[bytes, _KnownHead] = Recent(_MOST)

    def get(self, data: bytes) -> ParsedRequest | None:
        """Returns what the parser would make of the bytes of a whole request, or None."""
        return self._whole.get(data) or self._like_another(data)

    def put(self, data: bytes, target: bytes, parsed: ParsedRequest) -> None:
        """Keeps a request.

        Args:
            data: Its bytes, and no others.
            target: Its target, as the parser read it.
            parsed: What the parser made of it.
        """
        if len(data) <= _LONGEST:
            self._whole.put(data, parsed)
        split = _split(data)
        # what is no body as it was sent, is the framing of chunks
        if split is not None and split.target == target and data[split.end :] == parsed.body:
            self._heads.put(split.frame, _KnownHead(parsed.head, target, len(parsed.body)))

    def _like_another(self, data: bytes) -> ParsedRequest | None:
        """Returns a request whose head differs from a known one in the target alone, or None."""
        split = _split(data)
        known = None if split is None else self._heads.get(split.frame)
        if split is None or known is None or len(data) - split.end != known.body_length:
            return None
        head = known.head
        if split.target != known.target:
            if _PLAIN_TARGET.fullmatch(split.target) is None:
                return None
            head = head.with_target(split.target)
        parsed = ParsedRequest(head, data[split.end :])
        if len(data) <= _LONGEST:
            self._whole.put(data, parsed)
        return parsed


def _split(data: bytes) -> _Split | None:
    """Splits the head of a request; returns None for one that is too long to be kept, or cut off."""
    end = data.find(_END, 0, _LONGEST)
    if end < 0:
        return None
    start = data.find(b" ") + 1
    stop = data.find(b" ", start)
    return _Split(data[:start] + data[stop:end], data[start:stop], end + len(_END))
