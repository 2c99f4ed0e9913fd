"""Checks uploaded pictures by their bytes, resizes pictures, and draws placeholders.

The media type of the part and the file name are not trusted: real clients send
``application/octet-stream``, and attackers send anything.
"""

import hashlib
import warnings
from functools import lru_cache
from io import BytesIO
from typing import Literal

from PIL import Image as Pixels
from PIL import ImageDraw, ImageOps, UnidentifiedImageError

from understudy.errors import BadRequest, ContentTooLarge
from understudy.mock.store.people import Image

MAX_UPLOAD_BYTES = 10 * 1000 * 1000  # real deployments refuse more than 10 MB
MAX_PIXELS = 40_000_000
"""Pixels of one frame; a file of 48 KB can decompress to ten times as many."""

MAX_FRAMES = 200

MEDIA_TYPES = {"GIF": "image/gif", "JPEG": "image/jpeg", "PNG": "image/png"}

Placeholder = Literal["mp", "identicon", "blank"]

_FORMATS = {media_type: name for name, media_type in MEDIA_TYPES.items()}
_SIGNATURES = (
    (b"GIF8", "GIF"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
)
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
_IDENTICON_CELLS = 5


def checked_upload(content: bytes) -> Image:
    """Checks an upload.

    Returns:
        The picture, with the media type that its bytes show.

    Raises:
        BadRequest: The file is not a complete JPEG, PNG or GIF, not square, or has too many pixels.
        ContentTooLarge: The file has more than MAX_UPLOAD_BYTES.
    """
    if len(content) > MAX_UPLOAD_BYTES:
        msg = f"data: the picture has {len(content):,} bytes; at most {MAX_UPLOAD_BYTES:,} are allowed."
        raise ContentTooLarge(msg, code="image_too_large")
    name = next((name for start, name in _SIGNATURES if content.startswith(start)), None)
    if name is None:
        what = f"is {_looks_like(content)}"
        raise _unsupported(what)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd metadata, which does not matter here
            _check(content, name)
    except BadRequest:
        raise
    except Pixels.DecompressionBombError as error:
        msg = f"data: the picture has more than {MAX_PIXELS:,} pixels, which is the maximum."
        raise BadRequest(msg, code="image_too_large") from error
    except Exception as error:  # Pillow's decoders raise any kind of exception
        what = "cannot be decoded completely; it is damaged or truncated"
        raise _unsupported(what) from error
    return Image(content, MEDIA_TYPES[name])


def _check(content: bytes, name: str) -> None:
    """Checks the dimensions before decoding, which is where a decompression bomb would strike."""
    with Pixels.open(BytesIO(content), formats=[name]) as picture:
        width, height = picture.size
        if width * height > MAX_PIXELS:
            msg = f"data: the picture has {width} x {height} pixels; at most {MAX_PIXELS:,} are allowed."
            raise BadRequest(msg, code="image_too_large")
        if width != height:
            msg = f"data: the picture is {width} x {height} pixels; crop it to a square."
            raise BadRequest(msg, code="uncropped_image")
        if getattr(picture, "n_frames", 1) > MAX_FRAMES:
            msg = f"data: the picture has more than {MAX_FRAMES} frames."
            raise BadRequest(msg, code="image_too_large")
        picture.load()


def _unsupported(what: str) -> BadRequest:
    msg = f"data: the file {what}; send a JPEG, PNG or GIF."
    return BadRequest(msg, code="unsupported_image")


def _looks_like(content: bytes) -> str:
    if not content:
        return "empty"
    for signature, offset, name in _OTHER_SIGNATURES:
        if content[offset : offset + len(signature)] == signature:
            return name
    return "not a picture" if content[:64].isascii() else "of an unknown kind"


@lru_cache(maxsize=256)
def resize(image: Image, size: int) -> Image:
    """Returns a picture cropped to a square of this size in pixels; of an animation, the first frame.

    A fixture that cannot be decoded is returned unchanged.
    """
    try:
        with Pixels.open(BytesIO(image.content)) as picture:
            fitted = ImageOps.fit(
                _upright_in_colour(picture), (size, size), Pixels.Resampling.LANCZOS
            )
    except UnidentifiedImageError:
        return image
    return Image(_encoded(fitted, _FORMATS[image.media_type]), image.media_type)


@lru_cache(maxsize=256)
def placeholder(kind: Placeholder, size: int, seed: str) -> Image:
    """Draws the placeholder of a missing picture, as a PNG.

    Args:
        kind: ``mp`` is the outline of a person, ``identicon`` a pattern derived from the seed, and
            ``blank`` a transparent picture.
        size: Width and height in pixels.
        seed: The identifier that the picture was requested for.
    """
    if kind == "blank":
        drawn = Pixels.new("RGBA", (size, size), (0, 0, 0, 0))
    elif kind == "identicon":
        drawn = _identicon(seed).resize((size, size), Pixels.Resampling.NEAREST)
    else:
        drawn = _outline().resize((size, size), Pixels.Resampling.LANCZOS)
    return Image(_encoded(drawn, "PNG"), MEDIA_TYPES["PNG"])


def _upright_in_colour(picture: Pixels.Image) -> Pixels.Image:
    upright = ImageOps.exif_transpose(picture)
    return upright.convert("RGB" if picture.format == "JPEG" else "RGBA")


def _encoded(picture: Pixels.Image, name: str) -> bytes:
    content = BytesIO()
    picture.save(content, name)
    return content.getvalue()


def _identicon(seed: str) -> Pixels.Image:
    digest = hashlib.sha256(seed.encode()).digest()
    colour = tuple(64 + byte // 2 for byte in digest[:3])
    half = (_IDENTICON_CELLS + 1) // 2
    drawn = Pixels.new("RGB", (_IDENTICON_CELLS + 2,) * 2, (240, 240, 240))
    for place in range(_IDENTICON_CELLS * half):
        if digest[3 + place] % 2:
            x, y = place // _IDENTICON_CELLS, place % _IDENTICON_CELLS
            drawn.putpixel((1 + x, 1 + y), colour)
            drawn.putpixel((_IDENTICON_CELLS - x, 1 + y), colour)
    return drawn


def _outline() -> Pixels.Image:
    side = 512
    drawn = Pixels.new("RGB", (side, side), (203, 209, 207))
    paint = ImageDraw.Draw(drawn)
    paint.ellipse((side * 0.31, side * 0.18, side * 0.69, side * 0.56), fill=(250, 250, 250))
    paint.ellipse((side * 0.12, side * 0.64, side * 0.88, side * 1.4), fill=(250, 250, 250))
    return drawn
