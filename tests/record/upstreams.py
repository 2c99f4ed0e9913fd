"""Upstreams whose bytes no framework would send, by name, and what an app gets of each."""

from collections.abc import Mapping
from typing import Final

_OK: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"

UPSTREAMS: Final[Mapping[str, tuple[bytes, int | None]]] = {
    # bytes of the response, and the status that the app gets; None for a connection that ends
    "sound": (_OK + b"content-length: 2\r\n\r\nok", 200),
    "escape-in-a-field": (_OK + b"x-a: a\x1b[2Jb\x07\x7f\r\ncontent-length: 2\r\n\r\nok", 200),
    "bytes-above-ascii": (_OK + b"x-a: \xff\x80\r\ncontent-length: 2\r\n\r\nok", 200),
    "status-999": (b"HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\nok", 502),
    "status-600": (b"HTTP/1.1 600 Odd\r\ncontent-length: 0\r\n\r\n", 502),
    "status-000": (b"HTTP/1.1 000 Odd\r\ncontent-length: 0\r\n\r\n", 502),
    "status-without-digits": (b"HTTP/1.1 abc Odd\r\ncontent-length: 0\r\n\r\n", 502),
    "switches-unasked": (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n\x01\x02", 502),
    "nul-in-a-field": (_OK + b"x-a: a\x00b\r\ncontent-length: 2\r\n\r\nok", 502),
    "space-in-a-name": (_OK + b"x a: b\r\ncontent-length: 2\r\n\r\nok", 502),
    "no-http": (b"\x16\x03\x01 this is TLS\r\n\r\n", 502),
    "nothing": (b"", 502),
    "two-lengths": (_OK + b"content-length: 2\r\ncontent-length: 3\r\n\r\nok", 502),
    "negative-length": (_OK + b"content-length: -2\r\n\r\nok", 502),
    "endless-header": (_OK + b"x-a: " + b"a" * 2_000_000, 502),
    "many-fields": (_OK + b"x-a: b\r\n" * 20_000 + b"content-length: 2\r\n\r\nok", 502),
    "no-content-with-a-length": (b"HTTP/1.1 204 No\r\ncontent-length: 9\r\n\r\n", 204),
    "not-modified-with-a-length": (b"HTTP/1.1 304 Not\r\ncontent-length: 9\r\n\r\n", 304),
    "odd-chunks": (_OK + b"transfer-encoding: chunked\r\n\r\nzz\r\nok", None),
    "too-short": (_OK + b"content-length: 9\r\n\r\nok", None),
    "gzip-that-is-none": (_OK + b"content-encoding: gzip\r\ncontent-length: 2\r\n\r\nok", 200),
    "cookie-with-escapes": (_OK + b"set-cookie: a=\x1b]0;x\x07; Domain=x\r\n\r\nok", 200),
    "location-with-escapes": (
        b"HTTP/1.1 302 F\r\nlocation: /\x1b[31m\xe2\x80\xae\r\ncontent-length: 0\r\n\r\n",
        302,
    ),
}
