"""Pictures that break uploads, drawn here: the same bytes in every run.

None of them is large, but those whose size is the matter: these are zeros but for a few bytes.
"""

import struct
import zlib
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

SIDE = 8
LARGEST = 10_000_000
"""Bytes that are surely taken (rule upload-size-limit): what 10 MB are, read as the fewest."""

BOMB_SIDE = 20_000
"""400 million pixels that are one colour: 50 KB before they are unfolded."""

_ORIENTATION = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
"""EXIF that says: turn me by 90 degrees."""


class Picture(NamedTuple):
    """A file for an upload.

    Attributes:
        what: In plain words.
        content: Its bytes.
        name: A file name that goes with it.
        media_type: A type that goes with it.
    """

    what: str
    content: bytes
    name: str
    media_type: str


@cache
def good() -> tuple[Picture, ...]:
    """Returns square, whole pictures in the formats that are taken (rule upload-image-types)."""
    plain = png()
    return (
        Picture("PNG", plain, "a.png", "image/png"),
        Picture("a PNG of one pixel", png(1, 1), "a.png", "image/png"),
        Picture("a PNG in grey with 16 bits", png(depth=16, colour=0), "a.png", "image/png"),
        Picture("a PNG with transparency", png(colour=6), "a.png", "image/png"),
        Picture("JPEG", _saved("RGB", "JPEG"), "a.jpg", "image/jpeg"),
        Picture("a JPEG of one pixel", _saved("RGB", "JPEG", size=1), "a.jpg", "image/jpeg"),
        Picture(
            "a progressive JPEG", _saved("RGB", "JPEG", progressive=True), "a.jpg", "image/jpeg"
        ),
        Picture("a JPEG in grey", _saved("L", "JPEG"), "a.jpg", "image/jpeg"),
        Picture("a JPEG in CMYK", _saved("CMYK", "JPEG"), "a.jpg", "image/jpeg"),
        Picture("a JPEG that EXIF turns", _turned(), "a.jpg", "image/jpeg"),
        Picture("GIF", _saved("P", "GIF"), "a.gif", "image/gif"),
        Picture("an animated GIF", _animated(), "a.gif", "image/gif"),
        Picture("a PNG with a JPEG's name", plain, "a.jpg", "image/jpeg"),
        Picture("a JPEG with a PNG's name", _saved("RGB", "JPEG"), "a.png", "image/png"),
        Picture("a PNG named as a program", plain, "a.png.exe", "application/x-msdownload"),
        Picture("a PNG with a long name", plain, "a" * 250 + ".png", "image/png"),
        Picture("a PNG with emoji in its name", plain, "\U0001f600.png", "image/png"),
        Picture("a PNG whose name leads upwards", plain, "../../a.png", "image/png"),
        Picture("a PNG with an empty name", plain, "", "image/png"),
    )


@cache
def doubtful() -> tuple[Picture, ...]:
    """Returns pictures of which the contract says neither."""
    plain = png()
    return (
        Picture("a bomb: 400 million pixels in 50 KB", _bomb(), "a.png", "image/png"),
        Picture("a polyglot: a PNG with a ZIP behind it", plain + _ZIP, "a.png", "image/png"),
        Picture(
            "a polyglot: a PNG with a script in a comment",
            png(extra=_chunk(b"tEXt", b"Comment\0<script>alert(1)</script>")),
            "a.html",
            "text/html",
        ),
        Picture(
            "an animated PNG",
            png(extra=_chunk(b"acTL", struct.pack(">II", 1, 0))),
            "a.png",
            "image/png",
        ),
        Picture("a PNG of wrong checksums", _wrong_sum(), "a.png", "image/png"),
    )


@cache
def bad() -> tuple[Picture, ...]:
    """Returns what is no whole picture in a format that is taken (rule upload-image-types)."""
    plain, jpeg = png(side_x=64, side_y=64), _saved("RGB", "JPEG", size=64)
    return (
        Picture("an empty file", b"", "a.png", "image/png"),
        Picture("a PNG cut off in the middle", plain[: len(plain) // 2], "a.png", "image/png"),
        Picture("a JPEG cut off in the middle", jpeg[: len(jpeg) // 2], "a.jpg", "image/jpeg"),
        Picture("the first bytes of a PNG alone", plain[:8], "a.png", "image/png"),
        Picture("text with a picture's name", b"not a picture", "a.png", "image/png"),
        Picture("SVG", b'<svg xmlns="http://www.w3.org/2000/svg"/>', "a.svg", "image/svg+xml"),
        Picture("HTML", b"<!doctype html><script>alert(1)</script>", "a.png", "image/png"),
        Picture("PDF", b"%PDF-1.7\n%%EOF\n", "a.pdf", "application/pdf"),
        Picture("BMP", _saved("RGB", "BMP"), "a.bmp", "image/bmp"),
        Picture("TIFF", _saved("RGB", "TIFF"), "a.tiff", "image/tiff"),
        Picture("the head of HEIC", b"\0\0\0\x18ftypheic\0\0\0\0heicmif1", "a.heic", "image/heic"),
        Picture("the head of WebP", b"RIFF\x1a\0\0\0WEBPVP8L", "a.webp", "image/webp"),
        Picture("a script that begins as a GIF", b"GIF89a/*\0*/=alert(1)//;", "a.gif", "image/gif"),
        Picture("a PNG in base64", _BASE64, "a.png", "image/png"),
        Picture("zeros", b"\0" * 256, "a.png", "image/png"),
    )


@cache
def oblong() -> tuple[Picture, ...]:
    """Returns pictures that are not square (rule upload-square)."""
    return (
        Picture("a PNG of 2 x 1 pixels", png(2, 1), "a.png", "image/png"),
        Picture("a PNG of 1 x 2 pixels", png(1, 2), "a.png", "image/png"),
        Picture("a PNG of 64 x 63 pixels", png(64, 63), "a.png", "image/png"),
        Picture("a PNG of 1 x 4000 pixels", png(1, 4000), "a.png", "image/png"),
    )


def padded(size: int) -> Picture:
    """Returns a PNG of so many bytes; a chunk that nobody reads fills it with zeros."""
    filling = bytes(size - len(png()) - len(_chunk(b"paDd", b"")))
    return Picture(f"{size:,} bytes", png(extra=_chunk(b"paDd", filling)), "a.png", "image/png")


def png(
    side_x: int = SIDE,
    side_y: int = SIDE,
    *,
    depth: int = 8,
    colour: int = 2,
    extra: bytes = b"",
    shade: int = 120,
) -> bytes:
    """Returns a PNG of one shade; stored and not compressed, so that no zlib writes another one.

    Args:
        side_x: Pixels across.
        side_y: Pixels down.
        depth: Bits of a channel.
        colour: 0 is grey, 2 RGB, 6 RGB with transparency.
        extra: Chunks between head and pixels.
        shade: Of every channel.
    """
    channels = {0: 1, 2: 3, 6: 4}[colour]
    row = b"\0" + bytes([shade]) * (side_x * channels * depth // 8)
    return _png((side_x, side_y, depth, colour), zlib.compress(row * side_y, 0), extra)


def _png(measures: tuple[int, int, int, int], pixels: bytes, extra: bytes = b"") -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", *measures, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + extra + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + checksum


def _bomb() -> bytes:
    """One bit a pixel; the one picture that needs compressing."""
    packer = zlib.compressobj(9)
    row = bytes(BOMB_SIDE // 8 + 1)
    pixels = b"".join(packer.compress(row) for _ in range(BOMB_SIDE)) + packer.flush()
    return _png((BOMB_SIDE, BOMB_SIDE, 1, 0), pixels)


def _wrong_sum() -> bytes:
    whole = png()
    place = whole.index(b"IDAT") - 4
    size = struct.unpack(">I", whole[place : place + 4])[0]
    end = place + 8 + size
    return whole[:end] + b"\0\0\0\0" + whole[end + 4 :]


def _saved(mode: str, form: str, *, size: int = SIDE, **options: Any) -> bytes:
    from PIL import Image  # noqa: PLC0415 - 50 ms, for what most operations never need

    content = BytesIO()
    Image.new(mode, (size, size)).save(content, form, **options)
    return content.getvalue()


def _turned() -> bytes:
    return _saved("RGB", "JPEG", exif=_ORIENTATION)


def _animated() -> bytes:
    from PIL import Image  # noqa: PLC0415 - as above

    frames = [Image.new("P", (SIDE, SIDE), shade) for shade in (0, 1, 2)]
    content = BytesIO()
    frames[0].save(content, "GIF", save_all=True, append_images=frames[1:], duration=100)
    return content.getvalue()


_ZIP = b"PK\x05\x06" + bytes(18)
_BASE64 = b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
