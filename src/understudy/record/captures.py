"""Keeps a bounded copy of a body that passes, to judge it."""

import zlib
from typing import Final

from understudy.limits import BODY_BYTES

_GZIP: Final = 16 + zlib.MAX_WBITS


class CapturedBody:
    """The bytes of a body that passes; one that is too large is passed on and not kept.

    Attributes:
        is_whole: True if all bytes so far are kept.
        size: The number of bytes so far.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0
        self.is_whole = True

    def add(self, part: bytes) -> None:
        """Keeps a part of the body, unless there is too much of it."""
        self.size += len(part)
        if self.size > BODY_BYTES.most:
            self.is_whole = False
            self._parts.clear()
        else:
            self._parts.append(part)

    @property
    def content(self) -> bytes:
        """The bytes that were kept."""
        return b"".join(self._parts)


def decoded(body: bytes, encoding: str) -> bytes | None:
    """Returns a body without its content coding (RFC 9110, 8.4.1).

    Args:
        body: The body as it passed.
        encoding: The value of Content-Encoding; empty without one.

    Returns:
        The decoded body; None if its coding is not known, or it is too large.
    """
    if encoding.lower() in {"", "identity"}:
        return body
    if encoding.lower() not in {"gzip", "x-gzip", "deflate"}:
        return None
    decoder = zlib.decompressobj(zlib.MAX_WBITS if encoding.lower() == "deflate" else _GZIP)
    try:
        content = decoder.decompress(body, BODY_BYTES.most)
    except zlib.error:
        return None
    return content if decoder.eof else None
