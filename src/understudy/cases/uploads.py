"""Mutations of multipart bodies: the encoding of their parts, and the files that they carry."""

import struct
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from random import Random  # noqa: TID251 - seeded by the caller
from typing import Any, NamedTuple

from understudy.cases.drafts import Draft, DraftChange, MultipartBody, MultipartPart
from understudy.cases.model import CaseKind
from understudy.cases.mutations import (
    BODY,
    OPEN,
    WRITING,
    Generator,
    Mutation,
    OperationContext,
    kind_of,
    rule,
)
from understudy.openapi.loader import Node
from understudy.openapi.media_types import JSON
from understudy.openapi.parameter_writing import written

# Images are generated, so that every run sends the same bytes. All are small, except those that test
# the size limit, which are mostly zeros.

SIDE = 8  # pixels
LARGEST = 10_000_000
"""Largest size in bytes that is certainly accepted: 10 MB as 10 * 10^6 (rule upload-size-limit)."""

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
    name: str = "a.png"
    media_type: str = "image/png"


def _jpeg(description: str, content: bytes) -> UploadImage:
    return UploadImage(description, content, "a.jpg", "image/jpeg")


@cache  # every upload sends the same images
def good() -> tuple[UploadImage, ...]:
    """Returns square, complete images in the accepted formats (rule upload-image-types)."""
    plain = png()
    return (
        UploadImage("PNG", plain),
        UploadImage("a PNG of one pixel", png(1, 1)),
        UploadImage("a PNG in grey with 16 bits", png(depth=16, colour=0)),
        UploadImage("a PNG with transparency", png(colour=6)),
        _jpeg("JPEG", _saved("RGB", "JPEG")),
        _jpeg("a JPEG of one pixel", _saved("RGB", "JPEG", size=1)),
        _jpeg("a progressive JPEG", _saved("RGB", "JPEG", progressive=True)),
        _jpeg("a JPEG in grey", _saved("L", "JPEG")),
        _jpeg("a JPEG in CMYK", _saved("CMYK", "JPEG")),
        _jpeg("a JPEG that EXIF turns", _saved("RGB", "JPEG", exif=_ORIENTATION)),
        UploadImage("GIF", _saved("P", "GIF"), "a.gif", "image/gif"),
        UploadImage("an animated GIF", _animated(), "a.gif", "image/gif"),
        _jpeg("a PNG with a JPEG's name", plain),
        UploadImage("a JPEG with a PNG's name", _saved("RGB", "JPEG")),
        UploadImage("a PNG named as a program", plain, "a.png.exe", "application/x-msdownload"),
        UploadImage("a PNG with a long name", plain, "a" * 250 + ".png"),
        UploadImage("a PNG with emoji in its name", plain, "\U0001f600.png"),
        UploadImage("a PNG whose name leads upwards", plain, "../../a.png"),
        UploadImage("a PNG with an empty name", plain, ""),
    )


@cache  # as above
def doubtful() -> tuple[UploadImage, ...]:
    """Returns images that the contract neither accepts nor refuses, such as a decompression bomb."""
    script = _chunk(b"tEXt", b"Comment\0<script>alert(1)</script>")
    what = "a polyglot: a PNG with a script in a comment"
    return (
        UploadImage("a bomb: 400 million pixels in 50 KB", _bomb()),
        UploadImage("a polyglot: a PNG with a ZIP behind it", png() + _ZIP),
        UploadImage(what, png(extra=script), "a.html", "text/html"),
        UploadImage("an animated PNG", png(extra=_chunk(b"acTL", struct.pack(">II", 1, 0)))),
        UploadImage("a PNG of wrong checksums", _wrong_sum()),
    )


@cache  # as above
def bad() -> tuple[UploadImage, ...]:
    """Returns files that are not complete images in an accepted format (rule upload-image-types)."""
    plain, jpeg = png(side_x=64, side_y=64), _saved("RGB", "JPEG", size=64)
    heic = b"\0\0\0\x18ftypheic\0\0\0\0heicmif1"
    return (
        UploadImage("an empty file", b""),
        UploadImage("a PNG cut off in the middle", plain[: len(plain) // 2]),
        _jpeg("a JPEG cut off in the middle", jpeg[: len(jpeg) // 2]),
        UploadImage("the first bytes of a PNG alone", plain[:8]),
        UploadImage("text with a picture's name", b"not a picture"),
        UploadImage("SVG", b'<svg xmlns="http://www.w3.org/2000/svg"/>', "a.svg", "image/svg+xml"),
        UploadImage("HTML", b"<!doctype html><script>alert(1)</script>"),
        UploadImage("PDF", b"%PDF-1.7\n%%EOF\n", "a.pdf", "application/pdf"),
        UploadImage("BMP", _saved("RGB", "BMP"), "a.bmp", "image/bmp"),
        UploadImage("TIFF", _saved("RGB", "TIFF"), "a.tiff", "image/tiff"),
        UploadImage("the head of HEIC", heic, "a.heic", "image/heic"),
        UploadImage("the head of WebP", b"RIFF\x1a\0\0\0WEBPVP8L", "a.webp", "image/webp"),
        UploadImage(
            "a script that begins as a GIF", b"GIF89a/*\0*/=alert(1)//;", "a.gif", "image/gif"
        ),
        UploadImage("a PNG in base64", _BASE64),
        UploadImage("zeros", b"\0" * 256),
    )


@cache  # as above
def oblong() -> tuple[UploadImage, ...]:
    """Returns images that are not square (rule upload-square)."""
    sides = ((2, 1), (1, 2), (64, 63), (1, 4000))
    return tuple(UploadImage(f"a PNG of {x} x {y} pixels", png(x, y)) for x, y in sides)


def padded(size: int) -> UploadImage:
    """Returns a PNG of ``size`` bytes, padded with zeros in an ancillary chunk that readers skip."""
    filling = bytes(size - len(png()) - len(_chunk(b"paDd", b"")))
    return UploadImage(f"{size:,} bytes", png(extra=_chunk(b"paDd", filling)))


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
    """Returns a PNG with one bit per pixel, the only image that is compressed."""
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


def _animated() -> bytes:
    from PIL import Image  # noqa: PLC0415 - as above

    frames = [Image.new("P", (SIDE, SIDE), shade) for shade in (0, 1, 2)]
    content = BytesIO()
    frames[0].save(content, "GIF", save_all=True, append_images=frames[1:], duration=100)
    return content.getvalue()


_ZIP = b"PK\x05\x06" + bytes(18)
_BASE64 = b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


TOO_LARGE = ("413",)
MULTIPART_RFC = "RFC 7578, 4"

TYPES = "upload-image-types"
SQUARE = "upload-square"
SIZE = "upload-size-limit"

BodyChange = Callable[[MultipartBody], MultipartBody]


def base_parts(named_values: Iterator[tuple[str, object]]) -> MultipartBody:
    """Returns a plain multipart body of names and values; bytes become a file."""
    return MultipartBody(tuple(_part(name, value) for name, value in named_values))


def _part(name: str, value: object) -> MultipartPart:
    if isinstance(value, bytes):
        return file_part(name, good()[0]._replace(content=value))
    disposition = f'Content-Disposition: form-data; name="{name}"'
    headers = (disposition, f"Content-Type: {JSON}") if isinstance(value, dict) else (disposition,)
    return MultipartPart(headers, written(value).encode())


def file_part(name: str, picture: UploadImage) -> MultipartPart:
    """Returns a file part as browsers encode it, with quotes in the file name as ``%22``."""
    file_name = picture.name.replace('"', "%22")
    disposition = f'Content-Disposition: form-data; name="{name}"; filename="{file_name}"'
    return MultipartPart((disposition, f"Content-Type: {picture.media_type}"), picture.content)


def mutations(context: OperationContext, schema: Node, file_name: str) -> Iterator[Mutation]:
    """Yields the mutations of a multipart body.

    Args:
        context: The operation context.
        schema: Schema of the form.
        file_name: Name of the member that is a file.
    """
    pointer = f"{context.operation.pointer}/requestBody"
    is_required = file_name in context.values.schemas.required_names(schema)
    missing = kind_of(not is_required)
    yield context.on(f"{BODY} {file_name}", "required", "required", pointer).made(
        missing, f"{file_name}: left out", _to_parts(lambda parts: parts._replace(parts=()))
    )
    yield context.on(f"{BODY} {file_name}", "multipart", "required", pointer).made(
        missing,
        f"{file_name.upper()} instead of {file_name}",
        _to_file(file_name, lambda part: _named(part, file_name, f'"{file_name.upper()}"')),
    )
    yield from _files(context, file_name)
    if context.is_interface_operation:
        yield from _sizes(file_name)
    yield from _writing(context, schema, file_name)
    yield from _broken(context, file_name)


def generators(file_name: str, context: OperationContext) -> Iterator[Generator]:
    """Yields a generator of random images."""

    def picture(chance: Random) -> Mutation:
        side, shade = chance.randrange(1, 65), chance.randrange(256)
        other = side if chance.random() < 0.5 else side + chance.randrange(1, 65)  # noqa: PLR2004 - half
        content = png(side, other, shade=shade)
        made = UploadImage(f"a PNG of {side} x {other} pixels in shade {shade}", content)
        is_square = side == other or not context.is_interface_operation
        return _file(context, file_name, made, SQUARE, is_good=is_square)

    yield picture


def _files(context: OperationContext, name: str) -> Iterator[Mutation]:
    is_elsewhere = not context.is_interface_operation
    for pictures, rule_id, is_good in (
        (good, TYPES, True),
        (bad, TYPES, is_elsewhere),
        (oblong, SQUARE, is_elsewhere),
    ):
        for picture in pictures():
            yield _file(context, name, picture, rule_id, is_good=is_good)
    for picture in doubtful():
        mutation = _file(context, name, picture, TYPES, is_good=True)
        because = "the interface does not say"
        yield mutation._replace(kind="open", statuses=OPEN, because=because, is_option=False)


def _sizes(name: str) -> Iterator[Mutation]:
    """Yields files around the size limit; between 10 * 10^6 and 10 * 2^20 bytes both are right."""

    def sized(what: str, size: int, kind: CaseKind, statuses: tuple[str, ...] = ()) -> Mutation:
        args = (f"{BODY} {name}", "image", f"{name}: {what}", SIZE, rule(SIZE))
        # made when it is applied, since mutations are kept in memory and each file has 10 MB
        apply = _to_file(name, lambda _: file_part(name, padded(size)))
        return Mutation(*args, kind, apply, statuses, is_alone=True)

    most = LARGEST
    yield sized(f"a PNG of {most:,} bytes, the most that is taken", most, "valid")
    yield sized(f"a PNG of {most + 1:,} bytes, one beyond 10 MB", most + 1, "open", OPEN)
    large = most + 1_000_000
    yield sized(f"a PNG of {large:,} bytes, more than 10 MB", large, "invalid", TOO_LARGE)


def _file(
    context: OperationContext, name: str, picture: UploadImage, rule_id: str, *, is_good: bool
) -> Mutation:
    because = (
        rule(rule_id)
        if context.is_interface_operation
        else f"{context.operation.pointer}/requestBody"
    )
    mutation = context.on(f"{BODY} {name}", "image", rule_id, because).made(
        kind_of(is_good),
        f"{name}: {picture.description}",
        _to_file(name, lambda _: file_part(name, picture)),
    )
    return mutation._replace(is_option=is_good and picture.name in {"a.png", "a.jpg", "a.gif"})


def _writing(context: OperationContext, schema: Node, name: str) -> Iterator[Mutation]:
    """Yields unusual but valid encodings of the same body, as real clients send them."""

    def typed(text: str) -> BodyChange:
        line = f"Content-Type: {text}"
        return _in_part(name, lambda p: p._replace(headers=(p.headers[0], line)))

    untyped = _in_part(name, lambda p: p._replace(headers=p.headers[:1]))
    lowered = _in_part(name, lambda p: p._replace(headers=tuple(_lower(h) for h in p.headers)))
    more: CaseKind = "valid" if context.values.takes_more(schema) else "open"
    rows: tuple[tuple[str, BodyChange, CaseKind], ...] = (
        ("a part name without quotes", _in_part(name, lambda p: _named(p, name, name)), "valid"),
        ("a part type with a stray semicolon", typed("application/octet-stream;"), "valid"),
        ("a part without a type", untyped, "valid"),
        ("a part type of text", typed("text/plain; charset=utf-8"), "valid"),
        ("a part of another picture's type", typed("image/gif"), "valid"),
        ("an empty line before the last boundary", _lengthened(name), "valid"),
        ("nothing behind the last boundary", _with(epilogue=b""), "valid"),
        ("text before the first boundary", _with(preamble=b"a preamble\r\n"), "valid"),
        ("text behind the last boundary", _with(epilogue=b"\r\nan epilogue"), "valid"),
        ("the boundary +++", _with(boundary="+++"), "valid"),
        ("a boundary of 70 characters", _with(boundary="b" * 70), "valid"),
        ("a boundary of hyphens", _with(boundary="-" * 24 + "7d3f"), "valid"),
        ("an unknown part", _with_part("understudy", b"1"), more),
        ("an empty unknown part", _with_part("understudy", b""), more),
        ("the part's headers in lower case", lowered, "valid"),
    )
    on = context.on(WRITING, "multipart", "multipart", MULTIPART_RFC)
    for what, change, kind in rows:
        yield on.made(kind, f"multipart: {what}", _to_parts(change))


def _broken(context: OperationContext, name: str) -> Iterator[Mutation]:
    boundary = "multipart/form-data; boundary="
    refused: dict[str, DraftChange] = {
        "no boundary in Content-Type": lambda d: _as_bytes(d, "multipart/form-data"),
        "an empty boundary in Content-Type": lambda d: _as_bytes(d, boundary),
        "another boundary in Content-Type": lambda d: _as_bytes(d, f"{boundary}another"),
        "no last boundary": _to_parts(_with(is_ended=False)),
        "the file as the body itself": lambda d: d._replace(raw=png(), content_type="image/png"),
    }
    encoded = "Content-Transfer-Encoding: base64"
    left_open: dict[str, DraftChange] = {
        "line feeds alone": lambda d: _as_bytes(d, _multipart_type(d))._replace(
            raw=(d.content() or b"").replace(b"\r\n", b"\n")
        ),
        "the file twice": _to_parts(lambda p: p._replace(parts=(*p.parts, *p.parts))),
        "a file without a file name": _to_file(
            name, lambda p: p._replace(headers=(f'Content-Disposition: form-data; name="{name}"',))
        ),
        "the file under the name image": _to_file(name, lambda p: _named(p, name, '"image"')),
        "the file announced as base64": _to_file(
            name, lambda p: p._replace(headers=(*p.headers, encoded))
        ),
    }
    body = context.operation.request_body
    is_needed = body is not None and body.required
    (refused if is_needed else left_open)["no body behind the headers"] = lambda d: d._replace(
        raw=b"", content_type=f"{boundary}a"
    )
    on = context.on(WRITING, "multipart", "multipart", MULTIPART_RFC)
    yield from on.each("invalid", {f"multipart: {what}": it for what, it in refused.items()})
    yield from on.each("open", {f"multipart: {what}": it for what, it in left_open.items()})


def _with(**members: Any) -> BodyChange:
    """Returns a change of some fields of a multipart body."""
    return lambda parts: parts._replace(**members)


def _lengthened(name: str) -> BodyChange:
    """Returns a change that puts the file last and appends an empty line to it.

    In a text field, the line would be a part of the value.
    """

    def apply(body: MultipartBody) -> MultipartBody:
        parts = sorted(body.parts, key=lambda it: f'name="{name}"' in it.headers[0])
        return body._replace(parts=tuple(parts), before_end=b"\r\n")

    return apply


def _multipart_type(draft: Draft) -> str:
    boundary = draft.parts.boundary if draft.parts else ""
    return f"multipart/form-data; boundary={boundary}"


def _as_bytes(draft: Draft, content_type: str) -> Draft:
    return draft._replace(raw=draft.content(), content_type=content_type)


def _to_parts(change: BodyChange) -> DraftChange:
    return lambda draft: draft._replace(parts=draft.parts and change(draft.parts))


def _to_file(name: str, change: Callable[[MultipartPart], MultipartPart]) -> DraftChange:
    return _to_parts(_in_part(name, change))


def _in_part(name: str, change: Callable[[MultipartPart], MultipartPart]) -> BodyChange:
    def apply(parts: MultipartBody) -> MultipartBody:
        mark = f'name="{name}"'
        changed = (change(p) if mark in p.headers[0] else p for p in parts.parts)
        return parts._replace(parts=tuple(changed))

    return apply


def _with_part(name: str, content: bytes) -> BodyChange:
    added = MultipartPart((f'Content-Disposition: form-data; name="{name}"',), content)
    return lambda parts: parts._replace(parts=(added, *parts.parts))


def _named(part: MultipartPart, name: str, written: str) -> MultipartPart:
    first, *rest = part.headers
    return part._replace(headers=(first.replace(f' name="{name}"', f" name={written}"), *rest))


def _lower(header: str) -> str:
    name, _, text = header.partition(":")
    return f"{name.lower()}:{text}"
