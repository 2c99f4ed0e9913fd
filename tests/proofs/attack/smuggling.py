"""Requests whose end a proxy and a server might see at different places (RFC 9112, 11.2).

Each is followed by another request on its connection. One that is understood gets its response, and
the other gets its own. One whose end is not plain gets 400, and the other is not read.
"""

import asyncio
import re

HOST = b"Host: 127.0.0.1\r\n"
_JSON = b"Content-Type: application/json\r\n"
_POST = b"POST /__admin/requests/count HTTP/1.1\r\n" + HOST + _JSON
_GET = b"GET /v3/openapi HTTP/1.1\r\n" + HOST
_CHUNKED = b"Transfer-Encoding: chunked\r\n"
_BODY = b"2\r\n{}\r\n0\r\n\r\n"

NEXT = b"GET /v3/profiles/ada?next HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
"""The request that follows, and ends the connection."""

_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) [A-Z]")


def _sized(length: bytes, body: bytes = b"{}") -> bytes:
    return _POST + b"Content-Length: " + length + b"\r\n\r\n" + body


def _coded(coding: bytes) -> bytes:
    return _POST + b"Transfer-Encoding:" + coding + b"\r\n\r\n" + _BODY


def _chunks(content: bytes) -> bytes:
    return _POST + _CHUNKED + b"\r\n" + content


REFUSED: dict[str, bytes] = {
    "a length, then chunks": _POST + b"Content-Length: 4\r\n" + _CHUNKED + b"\r\n" + _BODY,
    "chunks, then a length": _POST + _CHUNKED + b"Content-Length: 4\r\n\r\n" + _BODY,
    "two equal lengths": _POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "two different lengths": _POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "a list of equal lengths": _sized(b"2, 2"),
    "a list of different lengths": _sized(b"2, 3", b"{} "),
    "a length with a plus": _sized(b"+2"),
    "a negative length": _sized(b"-2"),
    "a hexadecimal length": _sized(b"0x2"),
    "an empty length": _sized(b""),
    "a length with a space in it": _sized(b"1 0"),
    "a length with an underscore": _sized(b"1_0"),
    "a length beyond 64 bits": _sized(b"9" * 23),
    "the coding identity": _coded(b" identity"),
    "the coding gzip": _coded(b" gzip"),
    "chunked, then identity": _coded(b" chunked, identity"),
    "chunked twice": _coded(b" chunked, chunked"),
    "chunked, and identity in another field": _coded(b" chunked\r\nTransfer-Encoding: identity"),
    "a coding that ends like chunked": _coded(b" xchunked"),
    "a coding that begins like chunked": _coded(b" chunkedx"),
    "chunked in quotes": _coded(b' "chunked"'),
    "chunked after a vertical tab": _coded(b" \x0bchunked"),
    "chunked before a zero byte": _coded(b" chunked\x00"),
    "chunked on a folded line": _coded(b"\r\n chunked"),
    "a space before the colon": _POST + b"Transfer-Encoding : chunked\r\n\r\n" + _BODY,
    "a space before the name": _POST + b" Transfer-Encoding: chunked\r\n\r\n" + _BODY,
    "a folded header": _GET + b"X: a\r\n b\r\n\r\n",
    "lines that end with LF": b"GET /v3/openapi HTTP/1.1\nHost: a\n\n",
    "one line that ends with LF": _GET + b"X: a\nY: b\r\n\r\n",
    "a header that ends with LF": _GET + b"\n",
    "a CR in a value": _GET + b"X: a\rY: b\r\n\r\n",
    "two CRs before LF": _GET + b"X: a\r\r\n\r\n",
    "a zero byte in a value": _GET + b"X: a\x00b\r\n\r\n",
    "a control character in a value": _GET + b"X: a\x01b\r\n\r\n",
    "a field without a colon": _GET + b"X\r\n\r\n",
    "a field without a name": _GET + b": x\r\n\r\n",
    "a space in a name": _GET + b"X Y: x\r\n\r\n",
    "a negative chunk": _chunks(b"-2\r\n{}\r\n0\r\n\r\n"),
    "a chunk with a plus": _chunks(b"+2\r\n{}\r\n0\r\n\r\n"),
    "a chunk with 0x": _chunks(b"0x2\r\n{}\r\n0\r\n\r\n"),
    "a chunk with a space after its size": _chunks(b"2 \r\n{}\r\n0\r\n\r\n"),
    "a chunk with a space before its size": _chunks(b" 2\r\n{}\r\n0\r\n\r\n"),
    "a chunk beyond 64 bits": _chunks(b"F" * 18 + b"2\r\n{}\r\n0\r\n\r\n"),
    "a chunk without a size": _chunks(b"\r\n{}\r\n0\r\n\r\n"),
    "a chunk that is longer than its size": _chunks(b"2\r\n{}x\r\n0\r\n\r\n"),
    "chunks that end with LF": _chunks(b"2\n{}\n0\n\n"),
    "an extension of a chunk with LF": _chunks(b"2;a\nb\r\n{}\r\n0\r\n\r\n"),
    "a length in a trailer": _chunks(b"2\r\n{}\r\n0\r\nContent-Length: 50\r\n\r\n"),
    "a target that is a name": b"GET v3/openapi HTTP/1.1\r\n" + HOST + b"\r\n",
    "a target with a space": b"GET /v3/openapi x HTTP/1.1\r\n" + HOST + b"\r\n",
    "a target beyond ASCII": b"GET /v3/\xc3\xa9 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a tab after the method": b"GET\t/v3/openapi HTTP/1.1\r\n" + HOST + b"\r\n",
    "a space before the method": b" GET /v3/openapi HTTP/1.1\r\n" + HOST + b"\r\n",
    "a method in lower case": b"get /v3/openapi HTTP/1.1\r\n" + HOST + b"\r\n",
    "a method that is not a token": b"G@T /v3/openapi HTTP/1.1\r\n" + HOST + b"\r\n",
    "a method of 9,000 letters": b"A" * 9000 + b" /v3/openapi HTTP/1.1\r\n" + HOST + b"\r\n",
    "HTTP/1.2": b"GET /v3/openapi HTTP/1.2\r\n" + HOST + b"\r\n",
    "http/1.1": b"GET /v3/openapi http/1.1\r\n" + HOST + b"\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}
"""What is refused with 400, by what it has or is."""

REFUSED_ALONE: dict[str, bytes] = {
    "gzip, then chunked": _coded(b" gzip, chunked"),
    "two hosts": _GET + b"Host: other\r\n\r\n",
    "a target with a user name": b"GET http://a@127.0.0.1/v3/openapi HTTP/1.1\r\n" + HOST + b"\r\n",
}
"""What is refused with 400, although it is plain where it ends, so that the next one is read."""

UNDERSTOOD: dict[str, bytes] = {
    "a length": _sized(b"2"),
    "a length of no body": _GET + b"Content-Length: 0\r\n\r\n",
    "a length with zeros before it": _sized(b"0002"),
    "a request as the body of a GET": _GET + b"Content-Length: %d\r\n\r\n" % len(NEXT) + NEXT,
    "chunks": _chunks(_BODY),
    "chunked in capitals": _coded(b" CHUNKED"),
    "chunked after a tab": _coded(b"\tchunked"),
    "chunks of one byte": _chunks(b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"),
    "an extension of a chunk": _chunks(b"2;a=b\r\n{}\r\n0\r\n\r\n"),
    "a trailer": _chunks(b"2\r\n{}\r\n0\r\nX: y\r\n\r\n"),
    "a host in a trailer": _chunks(b"2\r\n{}\r\n0\r\nHost: other\r\n\r\n"),
    "zeros before the size of a chunk": _chunks(b"0" * 50 + b"2\r\n{}\r\n0\r\n\r\n"),
    "a name with an underscore": _POST
    + b"Transfer_Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
    "an unknown expectation": _POST + b"Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}",
    "a length that is named as a connection option": (
        _POST + b"Connection: Content-Length\r\nContent-Length: 2\r\n\r\n{}"
    ),
    "empty lines before it": b"\r\n\r\n" + _GET + b"\r\n",
    "a target in absolute form": b"GET http://127.0.0.1/v3/openapi HTTP/1.1\r\n" + HOST + b"\r\n",
    "an absolute target whose host the header contradicts": (
        b"GET http://127.0.0.1:1/v3/openapi HTTP/1.1\r\nHost: attacker.example\r\n\r\n"
    ),
}
"""What is understood, and gets 200."""

ENDING: dict[str, tuple[bytes, int]] = {
    "HTTP/1.0 ends the connection": (b"GET /v3/openapi HTTP/1.0\r\n\r\n", 200),
    "HTTP/1.0 stays no longer for keep-alive": (
        b"GET /v3/openapi HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        200,
    ),
    "chunks in HTTP/1.0 end the connection": (
        _chunks(_BODY).replace(b"HTTP/1.1", b"HTTP/1.0"),
        200,
    ),
    "HTTP/0.9 is refused": (b"GET /v3/openapi\r\n\r\n", 400),
    "nothing is read after Connection: close": (_GET + b"Connection: close\r\n\r\n", 200),
    "the host of an absolute target is guarded": (
        b"GET http://attacker.example/__admin/worlds HTTP/1.1\r\n"
        + HOST
        + b"Connection: close\r\n\r\n",
        403,
    ),
}
"""What gets one response of its status and ends the connection, whatever follows."""


async def statuses(port: int, content: bytes) -> list[int]:
    """Sends a request and the next one; returns the statuses of all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    response = b""
    try:
        async with asyncio.timeout(30):
            writer.write(content + NEXT)
            while received := await reader.read(65_536):
                response += received
    except ConnectionError:  # it was refused before all of it was read
        pass
    finally:
        writer.close()
    return [int(status) for status in _STATUS.findall(response)]


async def smuggle(port: int) -> dict[str, list[int]]:
    """Sends every case on a connection of its own; returns the statuses by the case's name."""
    cases = {
        **REFUSED,
        **REFUSED_ALONE,
        **UNDERSTOOD,
        **{name: case for name, (case, _) in ENDING.items()},
    }
    results = await asyncio.gather(*(statuses(port, case) for case in cases.values()))
    return dict(zip(cases, results, strict=True))


def expected(name: str) -> list[int]:
    """Returns the statuses that a case must get."""
    if name in REFUSED:
        return [400]
    if name in REFUSED_ALONE:
        return [400, 200]
    return [200, 200] if name in UNDERSTOOD else [ENDING[name][1]]
