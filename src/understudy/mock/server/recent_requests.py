"""Recognizes requests that were parsed before, so that they are not parsed again.

Clients repeat themselves: they send the same request over and over, or one that differs in its
target, and in what a body of the same length says. What the parser made of the first holds for the
others, as it reads the rest of a head whatever the target is.
"""

import re
from typing import Final, NamedTuple

from understudy.mock.server.recent import Recent, Recurring
from understudy.mock.server.request_context import RequestHead

_MOST: Final = 256
"""Requests and heads that are kept parsed: the few that clients send over and over."""

_LONGEST: Final = 2048
"""Bytes of a request, or of a head, that is kept."""

_END: Final = b"\r\n\r\n"

_REQUEST_LINE: Final = re.compile(
    rb"([A-Z]+) (/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*(?:\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?) "
)
"""Matches a method and a target in origin form that RFC 9112, 3.2.1, allows: the parser takes all of them."""

ParsedRequest = tuple[RequestHead, bytes]
"""The head and the body of a request that came whole in one read."""


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


class RecentRequests:
    """The requests that had a direct response lately, as they were parsed."""

    def __init__(self) -> None:
        self._whole: Recent[bytes, ParsedRequest] = Recurring(_MOST)
        self._heads: Recent[tuple[bytes, bytes], _KnownHead] = Recent(_MOST)
        """Maps the method and the head behind the target to what was parsed."""

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
        head, body = parsed
        split = _split(data)
        if split is None:
            return
        method, plain_target, rest, end = split
        # what is not a body as it was sent, is the framing of chunks
        if plain_target == target and data[end:] == body:
            self._heads.put((method, rest), _KnownHead(head, target, len(body)))

    def _like_another(self, data: bytes) -> ParsedRequest | None:
        """Returns a request whose head differs from a known one in the target alone, or None."""
        split = _split(data)
        if split is None:
            return None
        method, target, rest, end = split
        known = self._heads.get((method, rest))
        if known is None:
            return None
        head, known_target, body_length = known
        if len(data) - end != body_length:
            return None
        parsed = head if target == known_target else head.with_target(target), data[end:]
        if len(data) <= _LONGEST:
            self._whole.put(data, parsed)
        return parsed


def _split(data: bytes) -> tuple[bytes, bytes, bytes, int] | None:
    """Returns the method, the target, what is behind it in the head, and the bytes of the head.

    Returns None for a head that is too long to be kept, cut off, or has no plain target.
    """
    line = _REQUEST_LINE.match(data)
    end = data.find(_END, 0, _LONGEST)
    if line is None or end < 0:
        return None
    method, target = line.groups()
    return method, target, data[line.end() : end], end + len(_END)
