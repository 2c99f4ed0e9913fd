"""Reads multipart forms (RFC 7578) with python-multipart, and writes plain ones.

Accepts the harmless mistakes of some clients: an unquoted part name, a stray semicolon after a
part's type, an empty line before the last boundary. ``generate`` writes its own parts, since most
of them are ones that no library writes.
"""

import logging
from io import BytesIO
from typing import Final, NamedTuple

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header

from understudy.errors import LimitExceeded
from understudy.limits import MULTIPART_PARTS
from understudy.openapi.media_types import MULTIPART

# The response already reports a malformed form; the library's warnings would clutter the log.
logging.getLogger("python_multipart").addHandler(logging.NullHandler())


_READ_AT_ONCE: Final = 64 * 1024
"""Bytes that the parser gets at once; it copies them twice, which is slow for megabytes."""


class FormPart(NamedTuple):
    """A part of a form.

    Attributes:
        name: Name of its field.
        content: Its bytes.
        filename: The file name, as the client gives it; None for a part that is not a file.
    """

    name: str
    content: bytes
    filename: str | None = None


class MultipartError(ValueError):
    """A body is not a multipart form; the text says why, as a sentence about the body."""


def boundary_of(content_type: str) -> bytes:
    """Returns the boundary in a Content-Type; empty if that is not multipart/form-data."""
    media_type, options = parse_options_header(content_type)
    return options.get(b"boundary", b"") if media_type.decode("latin-1") == MULTIPART else b""


def read(content: bytes, boundary: bytes) -> list[FormPart]:
    """Returns the parts of a form, in order.

    Raises:
        MultipartError: The body cannot be read.
        LimitExceeded: The body has too many parts.
    """
    parts: list[FormPart] = []

    def on_field(field: Field) -> None:
        MULTIPART_PARTS.check(len(parts) + 1)
        parts.append(FormPart(_text(field.field_name), field.value or b""))

    def on_file(file: File) -> None:
        MULTIPART_PARTS.check(len(parts) + 1)
        assert isinstance(file.file_object, BytesIO)  # by MAX_MEMORY_FILE_SIZE
        content = file.file_object.getvalue()  # unlike read, copies nothing
        parts.append(FormPart(_text(file.field_name), content, _text(file.file_name)))

    if not boundary:
        msg = "has no boundary; let the client set Content-Type by itself"
        raise MultipartError(msg)
    if content and b"--" + boundary + b"--" not in content:
        msg = "ends before its last boundary; send it whole"
        raise MultipartError(msg)
    config = {"MAX_MEMORY_FILE_SIZE": len(content) + 1}  # never a file on the disk
    try:
        parser = FormParser(MULTIPART, on_field, on_file, boundary=boundary, config=config)
        for start in range(_start(content, boundary), len(content), _READ_AT_ONCE):
            parser.write(content[start : start + _READ_AT_ONCE])
        parser.finalize()
    except (FormParserError, ValueError, LookupError) as error:
        msg = f"cannot be read: {error}"
        raise MultipartError(msg) from error
    return parts


def parts_of(content: bytes, content_type: str) -> list[FormPart]:
    """Returns the parts of a form; empty if the body is not a form."""
    try:
        return read(content, boundary_of(content_type))
    except (MultipartError, LimitExceeded):
        return []


def written(part: FormPart, media_type: str, boundary: str) -> bytes:
    """Returns a form with one file."""
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{part.name}"; '
        f'filename="{part.filename}"\r\nContent-Type: {media_type}\r\n\r\n'
    )
    return head.encode() + part.content + f"\r\n--{boundary}--\r\n".encode()


def _start(content: bytes, boundary: bytes) -> int:
    """Returns the position of the first boundary, after any preamble (RFC 2046, 5.1.1)."""
    preamble = -1 if content.startswith(b"--") else content.find(b"\r\n--" + boundary)
    return 0 if preamble < 0 else preamble + 2


def _text(name: bytes | None) -> str:
    return (name or b"").decode("utf-8", "replace")
