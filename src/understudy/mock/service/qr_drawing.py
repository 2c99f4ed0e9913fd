"""Draws QR codes at an exact size in pixels.

segno computes the modules (ISO/IEC 18004). Pillow paints each module with a whole number of pixels, and
the remaining pixels widen the quiet zone, since decoders fail on modules of uneven width.
"""

import math
from io import BytesIO
from typing import Final

import segno
from PIL import Image, ImageDraw

from understudy.errors import BadRequest
from understudy.mock.service.qr_options import DOTS, CentreIcon

Matrix = tuple[bytearray, ...]

QUIET_ZONE = 4  # modules; ISO/IEC 18004
NARROW_QUIET_ZONE = 2
"""Modules, for codes narrower than NARROW pixels, where wider modules help more than a wide margin."""

NARROW = 100
ICON_SHARE = 0.2
"""Share of the code's side: less than 5 % of its area; error correction level H restores 30 %."""

FINDER = 7  # modules of a finder pattern's side

BILEVEL = "1"
"""Pillow's mode with one bit per pixel, which takes half the time of grey to encode."""

_MASK: Final = 0
"""Mask pattern. A code names its mask, so decoders read any; to score all eight, as the standard
requires of encoders (7.8.3), would take four fifths of a drawing's time."""

_BLACK, _WHITE = 0, 255

_SMALL_DOT = 2
"""Pixels of a module that is too small to show a dot."""

_DOT_GREY = round(_WHITE * (1 - math.pi / 4))
"""Grey of such a module: as dark as a black dot on white."""


def draw(text: str, *, size: int, version: int, icon: CentreIcon) -> bytes:
    """Draws a QR code.

    Args:
        text: The text that a decoder reads.
        size: Width and height in pixels. Where the modules do not fit at one pixel each, the
            picture is scaled down and cannot be decoded.
        version: 1 for squares, 3 for dots.
        icon: The icon in the centre.

    Returns:
        A PNG.

    Raises:
        BadRequest: The text is too long for a QR code.
    """
    matrix = _matrix(text, icon)
    side = len(matrix)
    margin = NARROW_QUIET_ZONE if size < NARROW else QUIET_ZONE
    scale = size // (side + 2 * margin) or size // side or 1
    code = _painted(matrix, scale, dots=version == DOTS)
    _paint_icon(code, icon)
    canvas = Image.new(code.mode, (max(size, code.width),) * 2, _WHITE)
    offset = (canvas.width - code.width) // 2
    canvas.paste(code, (offset, offset))
    if canvas.width != size:
        canvas = canvas.convert("L").resize((size, size), Image.Resampling.LANCZOS)
    content = BytesIO()
    canvas.save(content, "PNG")
    return content.getvalue()


def _matrix(text: str, icon: CentreIcon) -> Matrix:
    level = "M" if icon == "none" else "H"
    try:
        return segno.make_qr(text, error=level, boost_error=False, mask=_MASK).matrix
    except segno.DataOverflowError as error:
        size = len(text.encode())
        msg = f"The profile's URL has {size:,} bytes, too many for a QR code; shorten it."
        raise BadRequest(msg, code="qr_code_too_long") from error


def _painted(matrix: Matrix, scale: int, *, dots: bool) -> Image.Image:
    side = len(matrix)
    is_grey = dots and scale <= _SMALL_DOT
    image = Image.new("L" if is_grey else BILEVEL, (side * scale, side * scale), _WHITE)
    paint = ImageDraw.Draw(image)
    for y, row in enumerate(matrix):
        for x, is_dark in enumerate(row):
            if is_dark:
                box = (x * scale, y * scale, (x + 1) * scale - 1, (y + 1) * scale - 1)
                # finder patterns stay square: decoders look for them first
                is_dot = dots and not _is_finder(x, y, side)
                if is_dot and not is_grey:
                    paint.ellipse(box, fill=_BLACK)
                else:
                    paint.rectangle(box, fill=_DOT_GREY if is_dot else _BLACK)
    return image


def _is_finder(x: int, y: int, side: int) -> bool:
    near_x, near_y = x < FINDER, y < FINDER
    far_x, far_y = x >= side - FINDER, y >= side - FINDER
    return (near_x and near_y) or (far_x and near_y) or (near_x and far_y)


def _paint_icon(code: Image.Image, icon: CentreIcon) -> None:
    if icon == "none":
        return
    radius = code.width * ICON_SHARE / 2
    centre = code.width / 2
    paint = ImageDraw.Draw(code)

    def disc(x: float, y: float, r: float, fill: int) -> None:
        left, top = centre + (x - r) * radius, centre + (y - r) * radius
        right, bottom = centre + (x + r) * radius, centre + (y + r) * radius
        paint.ellipse((left, top, right, bottom), fill=fill)

    disc(0, 0, 1, _WHITE)
    disc(0, 0, 0.85, _BLACK)
    if icon == "user":
        disc(0, -0.25, 0.28, _WHITE)
        left, right = centre - 0.45 * radius, centre + 0.45 * radius
        top, bottom = centre + 0.12 * radius, centre + 0.9 * radius
        paint.pieslice((left, top, right, bottom), 180, 360, fill=_WHITE)
    else:
        disc(0, 0, 0.55, _WHITE)
        disc(0.22, -0.22, 0.42, _BLACK)
