"""Mutations of how a JSON body is written: white space, escapes, encodings, repeated members."""

import gzip
from collections.abc import Iterator
from functools import partial
from typing import Any

from understudy.generate.mutations import draft_changes
from understudy.generate.mutations.mutation import WRITING, Mutation
from understudy.generate.mutations.operation_context import OperationContext
from understudy.openapi.loader import Node

JSON_RFC = "RFC 8259"


def mutations(context: OperationContext, schema: Node) -> Iterator[Mutation]:
    """Yields the ways to write the same JSON body, or nearly the same."""

    def rewritten(what: str, kind: str, change: Any) -> Mutation:
        make = context.accepted if kind == "valid" else context.left_open
        return make(
            WRITING,
            "json",
            f"body: {what}",
            "json-bodies",
            JSON_RFC,
            draft_changes.rewritten(change),
        )

    yield rewritten(
        "spaces and line ends around the JSON", "valid", lambda b: b"\r\n\t " + b + b"\n "
    )
    yield rewritten("every letter outside ASCII escaped", "valid", _escaped)
    yield rewritten("a byte order mark before the JSON", "open", lambda b: b"\xef\xbb\xbf" + b)
    yield rewritten("UTF-16 instead of UTF-8", "open", lambda b: b.decode().encode("utf-16"))
    yield rewritten("a NUL byte behind the JSON", "open", lambda b: b + b"\x00")
    yield rewritten("gzip, as Content-Encoding does not say", "open", _zipped)
    yield context.left_open(
        WRITING,
        "encoding",
        "body: gzip, as Content-Encoding says",
        "content-encoding",
        "RFC 9110, 8.4",
        lambda d: d._replace(raw=_zipped(d.content() or b"")).with_headers(
            "Content-Encoding", "gzip"
        ),
    )
    name = next(iter(context.values.schemas.property_names(schema)), None)
    if name is not None:
        yield rewritten(
            f"{name} twice in one object",
            "open",
            lambda b: b.replace(b"{", b'{"' + name.encode() + b'": "first", ', 1),
        )
        for half in ("d83d", "de00"):
            mark = b'": "\\u' + half.encode()
            what = f"{name} with half of a surrogate pair, \\u{half}"
            yield rewritten(what, "open", partial(_first_text, mark))


def _first_text(mark: bytes, body: bytes) -> bytes:
    return body.replace(b'": "', mark, 1)


def _escaped(body: bytes) -> bytes:
    units = body.decode().encode("utf-16-be")
    codes = [int.from_bytes(units[n : n + 2]) for n in range(0, len(units), 2)]
    return "".join(chr(code) if code < 0x80 else f"\\u{code:04x}" for code in codes).encode()  # noqa: PLR2004 - ASCII


def _zipped(body: bytes) -> bytes:
    """Compresses at level 0 and without a time, which gives the same bytes under every zlib."""
    zipped = gzip.compress(body, compresslevel=0, mtime=0)
    return zipped[:9] + b"\xff" + zipped[10:]  # the operating system, which Python 3.11 fills in
