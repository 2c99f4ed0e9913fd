"""Draws the placeholders of missing pictures, by their names in ``d``.

Each is a PNG, and those that vary are derived from the identifier, so that one address always shows
the same picture.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Final, NamedTuple

from PIL import Image as Pixels
from PIL import ImageDraw, ImageFont

from understudy.mock.service.image_processing import MEDIA_TYPES, encoded
from understudy.mock.store.people import Image

SIDE = 512  # pixels that placeholders are drawn at

_GREY, _WHITE, _DARK = (203, 209, 207), (250, 250, 250), (40, 44, 52)


class Subject(NamedTuple):
    """The person or name that a placeholder represents.

    Attributes:
        identifier: The hash or image_id that the picture was requested for.
        initials: Letters to show; empty if unknown.
    """

    identifier: str
    initials: str = ""

    @property
    def digest(self) -> bytes:
        """The bytes that everything about the drawing is derived from."""
        return hashlib.sha256(self.identifier.encode()).digest()

    @property
    def colour(self) -> tuple[int, ...]:
        """A colour of medium lightness."""
        return tuple(64 + byte // 2 for byte in self.digest[:3])


@lru_cache(maxsize=256)
def placeholder(kind: str, size: int, subject: Subject) -> Image:
    """Draws a placeholder.

    Args:
        kind: A name in ``PLACEHOLDERS``.
        size: Width and height in pixels.
        subject: What it represents.
    """
    drawing = PLACEHOLDERS[kind](subject)
    is_pattern = drawing.width < SIDE
    sampling = Pixels.Resampling.NEAREST if is_pattern else Pixels.Resampling.LANCZOS
    return Image(encoded(drawing.resize((size, size), sampling), "PNG"), MEDIA_TYPES["PNG"])


def _blank(_subject: Subject) -> Pixels.Image:
    return Pixels.new("RGBA", (SIDE, SIDE), (0, 0, 0, 0))


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
    "blank": _blank,
    "color": _colour,
    "initials": _initials,
    "identicon": partial(_pattern, cells=5),
    "retro": partial(_pattern, cells=8),
    "monsterid": partial(_face, corners=0.35),
    "wavatar": partial(_face, corners=0.2),
    "robohash": partial(_face, corners=0.05),
}
"""Name in ``d`` to what draws it."""
