"""Validates uploaded pictures by their bytes, resizes pictures, and draws placeholders.

The part's media type and file name are ignored: real clients send ``application/octet-stream``, and
attackers send anything.
"""

import hashlib
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from io import BytesIO
from math import isqrt
from typing import Final, NamedTuple

from PIL import Image as Pixels
from PIL import ImageDraw, ImageFont, ImageOps, UnidentifiedImageError

from understudy.errors import BadRequest, ContentTooLarge
from understudy.installation import missing_extra
from understudy.interface.vocabulary import OWN_WORDS
from understudy.mock.store.people import SIGNATURES, Image

MAX_PIXELS = 40_000_000
"""Pixels of one frame at most: a file of 48 KB can decompress to ten times as many."""

LARGEST_SIDE = isqrt(MAX_PIXELS)
"""Side of the largest square in pixels."""

MAX_FRAMES = 200
MAX_SCANS = 50
"""Scans of a JPEG at most: a progressive one has some ten, and each is decoded over all pixels."""

_START_OF_SCAN = b"\xff\xda"
"""Marker before each scan (ISO/IEC 10918-1, B.1.1.3). It is counted in the whole file, since a parser that
differs from the decoder could be tricked. Metadata rarely contains the marker."""

LARGEST_SIZE = 2048  # pixels of a side; larger pictures are never served

MEDIA_TYPES = {"GIF": "image/gif", "JPEG": "image/jpeg", "PNG": "image/png"}

_FORMATS = {media_type: name for name, media_type in MEDIA_TYPES.items()}
_SIGNATURES = tuple((start, _FORMATS[media_type]) for media_type, start in SIGNATURES.items())
_OTHER_SIGNATURES = (
    (b"ftyphei", 4, "HEIC"),
    (b"ftypmif1", 4, "HEIC"),
    (b"ftypavif", 4, "AVIF"),
    (b"WEBP", 8, "WebP"),
    (b"BM", 0, "BMP"),
    (b"II*\0", 0, "TIFF"),
    (b"%PDF", 0, "PDF"),
    (b"<svg", 0, "SVG"),
)


_NEWER = {"HEIC": "HEIF", "WebP": "WEBP"}
"""Formats that only a switch allows, to Pillow's names of them."""


def checked_upload(
    content: bytes,
    largest: int,
    largest_side: int = LARGEST_SIDE,
    field: str = OWN_WORDS.upload_field,
    *,
    converts_newer: bool = False,
) -> Image:
    """Validates an uploaded picture, and returns it.

    Args:
        content: Bytes of the file.
        largest: Maximum number of bytes.
        largest_side: Maximum width in pixels.
        field: Name of the form field, for messages.
        converts_newer: Whether WebP and HEIC are accepted, too, and converted to PNG or JPEG, which
            every browser shows.

    Returns:
        The picture, with the media type that its bytes show.

    Raises:
        BadRequest: The file is not a complete picture in an accepted format, not square, or has too
            many pixels.
        ContentTooLarge: The file has more than `largest` bytes.
    """
    expect_bytes(content, largest, field)
    name = next((name for start, name in _SIGNATURES if content.startswith(start)), None)
    if name is None and converts_newer:
        name = _newer_format(content)
    if name is None:
        raise _unsupported(field, f"is {_looks_like(content)}", _advice(content))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of odd metadata, which does no harm
            _check(content, name, field, largest_side)
    except (BadRequest, MemoryError):
        raise
    except Pixels.DecompressionBombError as error:
        msg = f"{field}: the picture has more than {MAX_PIXELS:,} pixels, which is the maximum."
        raise BadRequest(msg, code="image_too_large") from error
    except Exception as error:  # Pillow's decoders raise any kind of exception
        what = "cannot be decoded completely; it is damaged or truncated"
        raise _unsupported(field, what) from error
    return Image(content, MEDIA_TYPES[name]) if name in MEDIA_TYPES else _converted(content, name)


def expect_bytes(content: bytes, largest: int, field: str) -> None:
    """Checks the size of a file.

    Raises:
        ContentTooLarge: The file has more than `largest` bytes.
    """
    if len(content) > largest:
        msg = f"{field}: the picture has {len(content):,} bytes; at most {largest:,} are allowed."
        raise ContentTooLarge(msg, code="image_too_large")


def _check(content: bytes, name: str, field: str, largest_side: int) -> None:
    """Checks the dimensions, then decodes: a decompression bomb must be refused before decoding."""
    with Pixels.open(BytesIO(content), formats=[name]) as picture:
        width, height = picture.size
        if width * height > MAX_PIXELS:
            msg = f"{field}: the picture has {width} x {height} pixels; at most {MAX_PIXELS:,} are allowed."
            raise BadRequest(msg, code="image_too_large")
        if width != height:
            msg = f"{field}: the picture is {width} x {height} pixels; crop it to a square."
            raise BadRequest(msg, code="uncropped_image")
        if width > largest_side:
            msg = f"{field}: the picture is {width:,} pixels wide; at most {largest_side:,} are allowed."
            raise BadRequest(msg, code="image_too_large")
        if getattr(picture, "n_frames", 1) > MAX_FRAMES:
            msg = f"{field}: the picture has more than {MAX_FRAMES} frames."
            raise BadRequest(msg, code="image_too_large")
        if name == "JPEG" and content.count(_START_OF_SCAN) > MAX_SCANS:
            msg = f"{field}: the picture has more than {MAX_SCANS} scans; save it anew."
            raise BadRequest(msg, code="image_too_large")
        picture.draft(None, (1, 1))  # reads a whole JPEG, but decodes an eighth of it
        picture.load()


def pixels(content: bytes, *, converts_newer: bool = False) -> int:
    """Returns the number of pixels that a file's header claims; 0 if it is not a picture.

    Args:
        content: Bytes of the file.
        converts_newer: Whether WebP and HEIC are accepted; they count as MAX_PIXELS.
    """
    name = next((name for start, name in _SIGNATURES if content.startswith(start)), None)
    if name is None:
        return MAX_PIXELS if converts_newer and _looks_like(content) in _NEWER else 0
    try:
        with warnings.catch_warnings(), Pixels.open(BytesIO(content), formats=[name]) as picture:
            return picture.width * picture.height
    except Exception:  # Pillow's decoders raise any exception; checked_upload reports it later
        return 0


def _newer_format(content: bytes) -> str | None:
    """Returns Pillow's name of a format that only a switch allows; None for other formats.

    Raises:
        BadRequest: The file is HEIC, and the package that decodes HEIC is not installed.
    """
    kind = _looks_like(content)
    if kind == "HEIC":
        try:
            from pillow_heif import register_heif_opener  # noqa: PLC0415 - of an extra, for this alone
        except ModuleNotFoundError as error:
            raise BadRequest(str(missing_extra(error)), code="unsupported_image") from error
        register_heif_opener()
    return _NEWER.get(kind)


def _converted(content: bytes, name: str) -> Image:
    """Converts a picture to PNG if it is transparent, else to JPEG, at the largest size served."""
    with Pixels.open(BytesIO(content), formats=[name]) as picture:
        kind = "PNG" if picture.has_transparency_data else "JPEG"
        picture.thumbnail((LARGEST_SIZE, LARGEST_SIZE), Pixels.Resampling.LANCZOS)
        upright = _upright_in_colour(picture, MEDIA_TYPES[kind])
    return Image(encoded(upright, kind), MEDIA_TYPES[kind])


def _advice(content: bytes) -> str:
    is_newer = _looks_like(content) in _NEWER
    return ", or serve with --choose upload-image-types=webp-heic-too" if is_newer else ""


def _unsupported(field: str, what: str, advice: str = "") -> BadRequest:
    msg = f"{field}: the file {what}; send a JPEG, PNG or GIF{advice}."
    return BadRequest(msg, code="unsupported_image")


def _looks_like(content: bytes) -> str:
    if not content:
        return "empty"
    for signature, offset, name in _OTHER_SIGNATURES:
        if content[offset : offset + len(signature)] == signature:
            return name
    return "not a picture" if content[:64].isascii() else "of an unknown kind"


def resize(image: Image, size: int, media_type: str | None = None) -> Image:
    """Returns a picture, or the first frame of an animation, cropped and scaled to a square.

    A fixture that cannot be decoded is returned unchanged.

    Args:
        image: Picture.
        size: Width and height in pixels.
        media_type: Media type to convert to; None keeps that of the picture.
    """
    wanted = media_type or image.media_type
    try:
        with Pixels.open(BytesIO(image.content)) as picture:
            # scaled before it is converted: each copy of a large picture takes 160 MB
            picture.draft(None, (3 * size // 2, 3 * size // 2))  # lets a JPEG be decoded smaller
            fitted = ImageOps.fit(_of_channels(picture), (size, size), Pixels.Resampling.LANCZOS)
            fitted = _upright_in_colour(fitted, wanted)
    except UnidentifiedImageError:
        return image
    return Image(encoded(fitted, _FORMATS[wanted]), wanted)


def _upright_in_colour(picture: Pixels.Image, media_type: str) -> Pixels.Image:
    upright = _in_eight_bits(ImageOps.exif_transpose(picture))
    if media_type != MEDIA_TYPES["JPEG"]:
        return upright.convert("RGBA")
    transparent = upright.convert("RGBA")
    white = Pixels.new("RGBA", transparent.size, "white")
    return Pixels.alpha_composite(white, transparent).convert("RGB")


def _of_channels(picture: Pixels.Image) -> Pixels.Image:
    """Returns a picture with colour channels, as indexes of a palette cannot be averaged in scaling."""
    return picture.convert("RGBA") if picture.mode in {"P", "PA", "1"} else picture


def _in_eight_bits(picture: Pixels.Image) -> Pixels.Image:
    """Returns a picture with at most 8 bits per channel; Pillow clips larger values to white."""
    if not picture.mode.startswith("I"):
        return picture
    return picture.convert("I").point(lambda value: value * (1 / 257)).convert("L")


def encoded(picture: Pixels.Image, name: str) -> bytes:
    """Returns a picture as a file of Pillow's format ``name``."""
    content = BytesIO()
    picture.save(content, name)
    return content.getvalue()


# Placeholders of missing pictures, by their names in the parameter ``d``. Each is a PNG; those that vary
# are derived from the identifier, so that an address always shows the same picture.

SIDE = 512  # pixels of a placeholder before scaling

_GREY, _WHITE, _DARK = (203, 209, 207), (250, 250, 250), (40, 44, 52)


class Subject(NamedTuple):
    """The person or name that a placeholder represents.

    Attributes:
        identifier: Hash or image_id of the requested picture.
        initials: Letters to show; empty if unknown.
    """

    identifier: str
    initials: str = ""

    @property
    def digest(self) -> bytes:
        """Pseudo-random bytes from which the drawing is derived."""
        return hashlib.sha256(self.identifier.encode()).digest()

    @property
    def colour(self) -> tuple[int, ...]:
        """A colour of medium lightness."""
        return tuple(64 + byte // 2 for byte in self.digest[:3])


@lru_cache(maxsize=256)
def placeholder(kind: str, size: int, subject: Subject) -> Image:
    """Draws a placeholder.

    Args:
        kind: Key of ``PLACEHOLDERS``.
        size: Width and height in pixels.
        subject: Person or name to represent.
    """
    drawing = PLACEHOLDERS[kind](subject)
    is_pattern = drawing.width < SIDE
    sampling = Pixels.Resampling.NEAREST if is_pattern else Pixels.Resampling.LANCZOS
    return Image(encoded(drawing.resize((size, size), sampling), "PNG"), MEDIA_TYPES["PNG"])


def _colour(subject: Subject) -> Pixels.Image:
    return Pixels.new("RGB", (SIDE, SIDE), subject.colour)


def _person(_subject: Subject) -> Pixels.Image:
    drawing = Pixels.new("RGB", (SIDE, SIDE), _GREY)
    paint = ImageDraw.Draw(drawing)
    paint.ellipse(_box(0.31, 0.18, 0.69, 0.56), fill=_WHITE)
    paint.ellipse(_box(0.12, 0.64, 0.88, 1.4), fill=_WHITE)
    return drawing


def _initials(subject: Subject) -> Pixels.Image:
    drawing = _colour(subject)
    font = ImageFont.load_default(SIDE * 0.42)
    centre = (SIDE / 2, SIDE / 2)
    letters = subject.initials or subject.identifier[:1].upper()
    ImageDraw.Draw(drawing).text(centre, letters, fill=_WHITE, font=font, anchor="mm")
    return drawing


def _pattern(subject: Subject, cells: int) -> Pixels.Image:
    """Draws a pattern of square cells that is symmetrical left to right."""
    half = (cells + 1) // 2
    bits = int.from_bytes(hashlib.sha256(subject.digest).digest())
    drawing = Pixels.new("RGB", (cells + 2,) * 2, (240, 240, 240))
    for cell in range(cells * half):
        if bits >> cell & 1:
            x, y = cell // cells, cell % cells
            drawing.putpixel((1 + x, 1 + y), subject.colour)
            drawing.putpixel((cells - x, 1 + y), subject.colour)
    return drawing


def _face(subject: Subject, corners: float) -> Pixels.Image:
    """Draws a face; ``corners`` is the radius of its corners, as a share of the side."""
    digest = subject.digest
    drawing = Pixels.new("RGB", (SIDE, SIDE), tuple(255 - c // 3 for c in subject.colour))
    paint = ImageDraw.Draw(drawing)
    paint.rounded_rectangle(_box(0.15, 0.15, 0.85, 0.9), SIDE * corners, fill=subject.colour)
    eye, apart = 0.04 + digest[3] / 255 * 0.05, 0.1 + digest[4] / 255 * 0.08
    for x in (0.5 - apart, 0.5 + apart):
        paint.ellipse(_box(x - eye, 0.42 - eye, x + eye, 0.42 + eye), fill=_WHITE)
        paint.ellipse(_box(x - eye / 2, 0.42 - eye / 2, x + eye / 2, 0.42 + eye / 2), fill=_DARK)
    width = 0.1 + digest[5] / 255 * 0.12
    paint.chord(_box(0.5 - width, 0.52, 0.5 + width, 0.78), 0, 180, fill=_DARK)
    return drawing


def _box(left: float, top: float, right: float, bottom: float) -> tuple[float, ...]:
    return left * SIDE, top * SIDE, right * SIDE, bottom * SIDE


PLACEHOLDERS: Final[Mapping[str, Callable[[Subject], Pixels.Image]]] = {
    "mp": _person,
    "mm": _person,  # the older name
    "mystery": _person,
    "blank": lambda _subject: Pixels.new("RGBA", (SIDE, SIDE), (0, 0, 0, 0)),
    "color": _colour,
    "initials": _initials,
    "identicon": partial(_pattern, cells=5),
    "retro": partial(_pattern, cells=8),
    "monsterid": partial(_face, corners=0.35),
    "wavatar": partial(_face, corners=0.2),
    "robohash": partial(_face, corners=0.05),
}
"""Value of the parameter ``d`` to the function that draws the placeholder."""
