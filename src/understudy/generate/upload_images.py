"""Images that break uploads, made here so that every run sends the same bytes.

All are small, except those that test the size limit: these are zeros but for a few bytes.
"""

import struct
import zlib
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

SIDE = 8
LARGEST = 10_000_000
"""The largest size in bytes that is surely accepted: 10 MB as 10 * 10^6 (rule upload-size-limit)."""

BOMB_SIDE = 20_000
"""Side in pixels of a decompression bomb: 400 million pixels of one colour in 50 KB."""

_ORIENTATION = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
"""EXIF data that rotates the image by 90 degrees."""


class UploadImage(NamedTuple):
    """An image file for an upload.

    Attributes:
        description: What the file is, in plain words.
        content: The bytes of the file.
        name: The file name to send.
        media_type: The media type to send.
    """

    description: str
    content: bytes
    name: str
    media_type: str


@cache
def good() -> tuple[UploadImage, ...]:
    """Returns square, complete images in the accepted formats (rule upload-image-types)."""
    plain = png()
    return (
        UploadImage("PNG", plain, "a.png", "image/png"),
        UploadImage("a PNG of one pixel", png(1, 1), "a.png", "image/png"),
        UploadImage("a PNG in grey with 16 bits", png(depth=16, colour=0), "a.png", "image/png"),
        UploadImage("a PNG with transparency", png(colour=6), "a.png", "image/png"),
        UploadImage("JPEG", _saved("RGB", "JPEG"), "a.jpg", "image/jpeg"),
        UploadImage("a JPEG of one pixel", _saved("RGB", "JPEG", size=1), "a.jpg", "image/jpeg"),
        UploadImage(
            "a progressive JPEG", _saved("RGB", "JPEG", progressive=True), "a.jpg", "image/jpeg"
        ),
        UploadImage("a JPEG in grey", _saved("L", "JPEG"), "a.jpg", "image/jpeg"),
        UploadImage("a JPEG in CMYK", _saved("CMYK", "JPEG"), "a.jpg", "image/jpeg"),
        UploadImage("a JPEG that EXIF turns", _turned(), "a.jpg", "image/jpeg"),
        UploadImage("GIF", _saved("P", "GIF"), "a.gif", "image/gif"),
        UploadImage("an animated GIF", _animated(), "a.gif", "image/gif"),
        UploadImage("a PNG with a JPEG's name", plain, "a.jpg", "image/jpeg"),
        UploadImage("a JPEG with a PNG's name", _saved("RGB", "JPEG"), "a.png", "image/png"),
        UploadImage("a PNG named as a program", plain, "a.png.exe", "application/x-msdownload"),
        UploadImage("a PNG with a long name", plain, "a" * 250 + ".png", "image/png"),
        UploadImage("a PNG with emoji in its name", plain, "\U0001f600.png", "image/png"),
        UploadImage("a PNG whose name leads upwards", plain, "../../a.png", "image/png"),
        UploadImage("a PNG with an empty name", plain, "", "image/png"),
    )


@cache
def doubtful() -> tuple[UploadImage, ...]:
    """Returns images that the contract neither accepts nor refuses."""
    plain = png()
    return (
        UploadImage("a bomb: 400 million pixels in 50 KB", _bomb(), "a.png", "image/png"),
        UploadImage("a polyglot: a PNG with a ZIP behind it", plain + _ZIP, "a.png", "image/png"),
        UploadImage(
            "a polyglot: a PNG with a script in a comment",
            png(extra=_chunk(b"tEXt", b"Comment\0<script>alert(1)</script>")),
            "a.html",
            "text/html",
        ),
        UploadImage(
            "an animated PNG",
            png(extra=_chunk(b"acTL", struct.pack(">II", 1, 0))),
            "a.png",
            "image/png",
        ),
        UploadImage("a PNG of wrong checksums", _wrong_sum(), "a.png", "image/png"),
    )


@cache
def bad() -> tuple[UploadImage, ...]:
    """Returns files that are not complete images in an accepted format (rule upload-image-types)."""
    plain, jpeg = png(side_x=64, side_y=64), _saved("RGB", "JPEG", size=64)
    return (
        UploadImage("an empty file", b"", "a.png", "image/png"),
        UploadImage("a PNG cut off in the middle", plain[: len(plain) // 2], "a.png", "image/png"),
        UploadImage("a JPEG cut off in the middle", jpeg[: len(jpeg) // 2], "a.jpg", "image/jpeg"),
        UploadImage("the first bytes of a PNG alone", plain[:8], "a.png", "image/png"),
        UploadImage("text with a picture's name", b"not a picture", "a.png", "image/png"),
        UploadImage("SVG", b'<svg xmlns="http://www.w3.org/2000/svg"/>', "a.svg", "image/svg+xml"),
        UploadImage("HTML", b"<!doctype html><script>alert(1)</script>", "a.png", "image/png"),
        UploadImage("PDF", b"%PDF-1.7\n%%EOF\n", "a.pdf", "application/pdf"),
        UploadImage("BMP", _saved("RGB", "BMP"), "a.bmp", "image/bmp"),
        UploadImage("TIFF", _saved("RGB", "TIFF"), "a.tiff", "image/tiff"),
        UploadImage(
            "the head of HEIC", b"\0\0\0\x18ftypheic\0\0\0\0heicmif1", "a.heic", "image/heic"
        ),
        UploadImage("the head of WebP", b"RIFF\x1a\0\0\0WEBPVP8L", "a.webp", "image/webp"),
        UploadImage(
            "a script that begins as a GIF", b"GIF89a/*\0*/=alert(1)//;", "a.gif", "image/gif"
        ),
        UploadImage("a PNG in base64", _BASE64, "a.png", "image/png"),
        UploadImage("zeros", b"\0" * 256, "a.png", "image/png"),
    )


@cache
def oblong() -> tuple[UploadImage, ...]:
    """Returns images that are not square (rule upload-square)."""
    return (
        UploadImage("a PNG of 2 x 1 pixels", png(2, 1), "a.png", "image/png"),
        UploadImage("a PNG of 1 x 2 pixels", png(1, 2), "a.png", "image/png"),
        UploadImage("a PNG of 64 x 63 pixels", png(64, 63), "a.png", "image/png"),
        UploadImage("a PNG of 1 x 4000 pixels", png(1, 4000), "a.png", "image/png"),
    )


def padded(size: int) -> UploadImage:
    """Returns a PNG of this size in bytes, filled up with zeros in a chunk that no reader knows."""
    filling = bytes(size - len(png()) - len(_chunk(b"paDd", b"")))
    return UploadImage(f"{size:,} bytes", png(extra=_chunk(b"paDd", filling)), "a.png", "image/png")


def png(
    side_x: int = SIDE,
    side_y: int = SIDE,
    *,
    depth: int = 8,
    colour: int = 2,
    extra: bytes = b"",
    shade: int = 120,
) -> bytes:
    """Returns a PNG of one shade, stored uncompressed so that every zlib writes the same bytes.

    Args:
        side_x: Width in pixels.
        side_y: Height in pixels.
        depth: Bits of a channel.
        colour: PNG colour type: 0 is grey, 2 RGB, 6 RGB with transparency.
        extra: Chunks between the header and the pixels.
        shade: Value of every channel, 0 to 255.
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
    """Returns a PNG of one bit a pixel; the only image that has to be compressed."""
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
