"""Pictures are judged by their bytes, resized, and stood in for."""

import asyncio
import struct
import subprocess
import sys
import zlib
from io import BytesIO
from typing import Any

import msgspec
import pillow_heif
import pytest
from PIL import Image as Pixels

from understudy import installation
from understudy.errors import BadRequest, ContentTooLarge, LimitExceeded, Problem
from understudy.mock.service import picture_work
from understudy.mock.service.image_processing import (
    MAX_FRAMES,
    checked_upload,
    resize,
)
from understudy.mock.service.picture_work import PictureJob, decoded_apart
from understudy.mock.store.people import Image
from understudy.openapi.bundled import fixtures_directory

LARGEST = 10_000_000
"""Bytes that the file of an upload may have."""


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 40), **options: object) -> bytes:
    content = BytesIO()
    mode = "RGB" if kind == "JPEG" else "RGBA"
    Pixels.new(mode, size, "teal").save(content, kind, **options)
    return content.getvalue()


def animated(frames: int) -> bytes:
    content = BytesIO()
    shades = [Pixels.new("L", (8, 8), number % 250) for number in range(frames)]
    shades[0].save(content, "GIF", save_all=True, append_images=shades[1:])
    return content.getvalue()


def bomb(side: int) -> bytes:
    """Returns a PNG that says it has many pixels, in a few bytes."""
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    rows = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (picture("PNG"), "image/png"),
        (picture("JPEG"), "image/jpeg"),
        (picture("GIF"), "image/gif"),
        (animated(3), "image/gif"),
        (picture("PNG", (1, 1)), "image/png"),
    ],
)
def test_a_square_picture_is_taken_as_it_is(content: bytes, media_type: str) -> None:
    assert checked_upload(content, LARGEST) == Image(content, media_type)


@pytest.mark.parametrize(
    ("content", "code", "reason"),
    [
        (b"", "unsupported_image", "is empty"),
        (b"hello", "unsupported_image", "is not a picture"),
        (b"\xff\xfe\x00\x01", "unsupported_image", "of an unknown kind"),
        (picture("WEBP"), "unsupported_image", "is WebP"),
        (picture("BMP"), "unsupported_image", "is BMP"),
        (picture("TIFF"), "unsupported_image", "is TIFF"),
        (b"%PDF-1.7", "unsupported_image", "is PDF"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "unsupported_image", "is SVG"),
        (b"\0\0\0\x18ftypheic", "unsupported_image", "is HEIC"),
        (b"\0\0\0\x18ftypavif", "unsupported_image", "is AVIF"),
        (picture("PNG")[:70], "unsupported_image", "damaged or truncated"),
        (picture("JPEG")[:200], "unsupported_image", "damaged or truncated"),
        (b"GIF89a", "unsupported_image", "damaged or truncated"),
        (picture("PNG", (40, 41)), "uncropped_image", "40 x 41"),
        (bomb(30_000), "image_too_large", "more than 40,000,000 pixels"),
        (bomb(7_000), "image_too_large", "7000 x 7000"),
        (animated(MAX_FRAMES + 1), "image_too_large", "frames"),
        (picture("PNG") + b"\0" * LARGEST, "image_too_large", "are allowed"),
    ],
)
def test_anything_else_is_refused_and_told_why(content: bytes, code: str, reason: str) -> None:
    with pytest.raises((BadRequest, ContentTooLarge)) as refusal:
        checked_upload(content, LARGEST)
    problem: Problem = refusal.value
    assert (problem.code, reason in problem.message) == (code, True), problem.message


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
@pytest.mark.parametrize("size", [1, 80, 2048])
def test_a_picture_is_resized_to_the_asked_size_and_stays_of_its_kind(kind: str, size: int) -> None:
    resized = resize(checked_upload(picture(kind), LARGEST), size)
    with Pixels.open(BytesIO(resized.content)) as found:
        assert (found.size, found.format) == ((size, size), kind)


def test_a_picture_that_a_camera_held_sideways_is_shown_upright() -> None:
    half = Pixels.new("RGB", (40, 40), "white")
    half.paste("black", (0, 0, 40, 20))  # the upper half
    exif = Pixels.Exif()
    exif[0x0112] = 3  # upside down
    content = BytesIO()
    half.save(content, "JPEG", exif=exif)
    with Pixels.open(
        BytesIO(resize(checked_upload(content.getvalue(), LARGEST), 40).content)
    ) as found:
        pixels = found.convert("L").tobytes()
    upper, lower = pixels[: 40 * 15], pixels[40 * 25 :]
    assert min(upper) > 200
    assert max(lower) < 50


def progressive(extra: int, between: bytes = b"") -> bytes:
    """Returns a progressive JPEG with so many scans more than it needs, and bytes between them."""
    content = BytesIO()
    Pixels.new("L", (400, 400), 128).save(content, "JPEG", progressive=True)
    whole = content.getvalue()
    last = whole[whole.rindex(b"\xff\xda") : -2] + between
    return whole[:-2] + last * extra + whole[-2:]


def test_a_progressive_picture_is_taken() -> None:
    assert checked_upload(progressive(10), LARGEST).media_type == "image/jpeg"


@pytest.mark.parametrize(
    ("before", "between"),
    [(b"", b""), (b"\xff\xd8\xff\xd9", b""), (b"", b"\xff\x02\xff\xff")],
    ids=["plain", "an end before the picture", "a reserved marker between scans"],
)
def test_a_picture_that_is_decoded_over_and_over_is_refused_at_once(before, between) -> None:
    with pytest.raises(BadRequest, match="more than 50 scans") as refused:
        checked_upload(before + progressive(100_000, between), LARGEST)
    assert refused.value.code == "image_too_large"


@pytest.mark.parametrize(
    ("mode", "colour", "kind", "grey"),
    [
        ("1", 255, "PNG", 255),
        ("L", 128, "PNG", 128),
        ("LA", (128, 255), "PNG", 128),
        ("P", 0, "GIF", 0),
        ("I;16", 128 * 257, "PNG", 128),
        ("CMYK", (0, 0, 0, 127), "JPEG", 128),
    ],
)
def test_a_picture_of_any_depth_keeps_its_colours(mode: str, colour, kind: str, grey: int) -> None:
    content = BytesIO()
    Pixels.new(mode, (40, 40), colour).save(content, kind)
    shown = resize(checked_upload(content.getvalue(), LARGEST), 20, "image/png")
    with Pixels.open(BytesIO(shown.content)) as pixels:
        assert pixels.convert("RGB").getpixel((10, 10)) == pytest.approx((grey,) * 3, abs=2)


def test_a_fixture_that_cannot_be_decoded_is_shown_as_it_is() -> None:
    broken = Image(b"\x89PNG\r\n\x1a\nbroken", "image/png")
    assert resize(broken, 40) == broken


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_a_picture_is_converted_to_the_requested_type(kind: str) -> None:
    for media_type, name in (("image/png", "PNG"), ("image/jpeg", "JPEG"), ("image/gif", "GIF")):
        converted = resize(checked_upload(picture(kind), LARGEST), 20, media_type)
        with Pixels.open(BytesIO(converted.content)) as found:
            assert (found.format, converted.media_type) == (name, media_type)


def newer(kind: str, size: tuple[int, int] = (40, 40), mode: str = "RGB") -> bytes:
    pillow_heif.register_heif_opener()
    content = BytesIO()
    Pixels.new(mode, size, "teal").save(content, kind)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "kept_as"),
    [
        (newer("WEBP"), "image/jpeg"),
        (newer("WEBP", mode="RGBA"), "image/jpeg"),
        (newer("HEIF"), "image/jpeg"),
    ],
    ids=["webp", "opaque", "heic"],
)
def test_newer_pictures_are_taken_by_the_switch_and_kept_as_every_browser_shows_them(
    content: bytes, kept_as: str
) -> None:
    image = checked_upload(content, LARGEST, converts_newer=True)
    assert image.media_type == kept_as
    with Pixels.open(BytesIO(image.content)) as shown:
        assert (Pixels.MIME[shown.format or ""], shown.size) == (kept_as, (40, 40))


def test_a_transparent_newer_picture_stays_transparent() -> None:
    content = BytesIO()
    Pixels.new("RGBA", (40, 40), (0, 0, 0, 0)).save(content, "WEBP", lossless=True)
    image = checked_upload(content.getvalue(), LARGEST, converts_newer=True)
    assert image.media_type == "image/png"
    with Pixels.open(BytesIO(image.content)) as shown:
        assert shown.getpixel((20, 20))[3] == 0  # type: ignore[index]  # of RGBA


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (newer("WEBP", (40, 41)), "uncropped_image"),
        (newer("HEIF", (64, 40)), "uncropped_image"),
        (newer("WEBP")[:40], "unsupported_image"),
        (newer("HEIF")[:200], "unsupported_image"),
        (picture("BMP"), "unsupported_image"),
    ],
)
def test_newer_pictures_are_checked_as_the_others_are(content: bytes, code: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        checked_upload(content, LARGEST, converts_newer=True)
    assert refusal.value.code == code


@pytest.mark.parametrize("kind", ["WEBP", "HEIF"])
def test_without_the_switch_the_message_names_it(kind: str) -> None:
    with pytest.raises(BadRequest, match="--choose upload-image-types=webp-heic-too"):
        checked_upload(newer(kind), LARGEST)


def test_without_the_extra_the_message_says_how_to_install_it(monkeypatch) -> None:
    content = newer("HEIF")
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setattr(installation, "adding", "add {}".format)
    with pytest.raises(BadRequest, match="; run: add heic"):
        checked_upload(content, LARGEST, converts_newer=True)


def large(kind: str, mode: str, **options: Any) -> bytes:
    content = BytesIO()
    Pixels.new(mode, (2100, 2100), 77).save(content, kind, **options)
    return content.getvalue()


@pytest.mark.parametrize(
    ("kind", "mode", "options"),
    [
        ("JPEG", "CMYK", {"progressive": True}),
        ("PNG", "I;16", {}),
        ("PNG", "P", {}),
        ("GIF", "L", {}),
    ],
)
def test_a_large_picture_is_checked_and_resized_by_a_process_of_its_own_as_here(
    monkeypatch, kind: str, mode: str, options: dict[str, Any]
) -> None:
    content = large(kind, mode, **options)
    here = checked_upload(content, LARGEST)
    started: list[str] = []

    def noted(name: Any, image: Image, **arguments: Any) -> Image:
        started.append(name)
        return decoded_apart(name, image, **arguments)

    monkeypatch.setattr(picture_work, "decoded_apart", noted)
    assert decoded_apart("checked_upload", Image(content, ""), largest=LARGEST) == here
    apart = asyncio.run(picture_work.resized(here, 30, "image/png"))
    assert apart == resize(here, 30, "image/png")
    assert asyncio.run(picture_work.resized(here, 30, "image/png")) is apart  # kept
    assert started == ["resize"]


def test_a_small_picture_of_very_many_parts_is_decoded_apart_too() -> None:
    whole = picture("JPEG")
    content = whole[:2] + b"\xff\xef\x00\x02" * 200_000 + whole[2:]
    assert checked_upload(content, LARGEST).media_type == "image/jpeg"
    is_large: list[bool] = []

    def work(where: bool) -> Image:
        is_large.append(where)
        return Image(content, "image/jpeg")

    asyncio.run(picture_work.in_turn(content, work))
    asyncio.run(picture_work.in_turn(whole, work))
    assert is_large == [True, False]


def test_a_picture_is_resized_once_for_requests_of_the_same_size() -> None:
    portrait = Image(
        (fixtures_directory() / "images" / "portrait-ember.png").read_bytes(), "image/png"
    )
    first, second = (
        asyncio.run(picture_work.resized(portrait, 2048, None)) for _request in range(2)
    )
    assert first is second
    assert asyncio.run(picture_work.resized(portrait, 2047, None)) is not first


def test_a_refusal_in_a_process_of_its_own_says_the_same() -> None:
    content = large("PNG", "L")[:-3000]
    with pytest.raises(BadRequest) as here:
        checked_upload(content, LARGEST)
    with pytest.raises(BadRequest) as apart:
        decoded_apart("checked_upload", Image(content, ""), largest=LARGEST)
    assert (str(apart.value), apart.value.code) == (str(here.value), here.value.code)


def test_a_picture_that_takes_too_much_memory_ends_its_process_alone(monkeypatch) -> None:
    job = PictureJob("resize", Image(large("PNG", "RGBA"), "image/png"), {"size": 9})
    script = (
        "from understudy import limits;"
        "limits.PICTURE_MEMORY = limits.PICTURE_MEMORY._replace(most=8 << 20);"
        "from understudy.mock.service.picture_process import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=msgspec.msgpack.encode(job),
        capture_output=True,
        check=False,
    )
    assert done.returncode
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(LimitExceeded) as refused:
        decoded_apart("resize", job.image, size=9)
    assert dict(refused.value.headers)["x-mock-limit"] == "picture-memory"
