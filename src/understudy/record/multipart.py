"""Finds the picture in an upload, and writes an upload of another one."""

import re
from typing import Final

from understudy.limits import MULTIPART_PARTS

_BOUNDARY: Final = re.compile(r'boundary="?([^";,\s]{1,70})"?', re.IGNORECASE)
BOUNDARY: Final = "understudy-recording"


def files_of(body: bytes, content_type: str) -> list[bytes]:
    """Returns the contents of the parts of a multipart body (RFC 7578)."""
    match = _BOUNDARY.search(content_type)
    if match is None:
        return []
    parts = body.split(b"--" + match[1].encode("latin-1"), MULTIPART_PARTS.most)[1:-1]
    return [part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n") for part in parts]


def upload_of(content: bytes, field: str, media_type: str) -> bytes:
    """Returns a multipart body with one file.

    Args:
        content: The file.
        field: Name of the field.
        media_type: Media type of the file.
    """
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"; filename="picture"\r\n'
        f"Content-Type: {media_type}\r\n\r\n"
    )
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
