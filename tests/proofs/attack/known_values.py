"""Values that a mock knows, so that hostile requests get past what only looks at form."""

import struct
import zlib
from collections.abc import Mapping, Sequence

ADA = "b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72"
IMAGE = "288781428e4dfa058dcb4ccb157f0b79"

PARAMETERS: Mapping[str, Sequence[str]] = {
    "profileIdentifier": ("ada", ADA, "hush", "gone", "ben"),
    "sha256_hash": ("ada", ADA),
    "imageHash": (IMAGE,),
    "imageId": (IMAGE,),
    "email_hash": (ADA,),
    "selected_email_hash": (ADA,),
    "client_id": ("server-app", "browser-app", "two-step"),
    "redirect_uri": ("http://127.0.0.1:5000/callback", "http://127.0.0.1:5173/"),
    "response_type": ("code", "token"),
    "scope[0]": ("auth",),
    "mock_approve": ("ada", "ben"),
    "token": ("ada-full", "ben-full"),
    "name": ("default", "kept", "w1"),
    "principal": ("ada", "anonymous"),
    "size": ("1", "80", "1000"),
    "s": ("1", "80", "2048"),
    "version": ("1", "3"),
    "type": ("user", "service", "none"),
}
"""Parameter to values that are there, or are valid."""

PAGES = (
    *("/", "/ada", "/sign-in", "/sign-out", "/consent", "/apps", "/apps/server-app", "/static/x"),
    *("/apps/server-app/name", "/apps/server-app/secret", "/apps/server-app/deletion"),
    *("/static/pages.css", "/static/../x", "/login", "/nothing"),
)


def _chunk(kind: bytes, content: bytes) -> bytes:
    crc = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + crc


def png(width: int, height: int, rows: bytes | None = None) -> bytes:
    """Returns a grey PNG; with other rows than its size needs, a broken one or a bomb."""
    data = bytes((width + 1) * height) if rows is None else rows
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + _chunk(b"IDAT", zlib.compress(data)) + _chunk(b"IEND", b"")


PICTURES = (
    png(4, 4),
    png(60_000, 60_000, bytes(1_000_000)),
    png(2**31 - 1, 2**31 - 1, b""),
    png(0, 0),
    png(4, 4)[:40],
    b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + b"\x00\x00\x00,",
    b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(20),
    b"RIFF\xff\xff\xff\xffWEBPVP8 ",
    b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
)
"""Uploads: one that is fine, bombs, and what only begins like a picture."""
