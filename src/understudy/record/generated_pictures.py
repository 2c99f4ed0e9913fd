"""Draws pictures in place of people's: of the same kind and size, and without a pixel of theirs."""

import warnings
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw, UnidentifiedImageError

_KINDS: Final = {
    "PNG": ("image/png", ".png"),
    "JPEG": ("image/jpeg", ".jpg"),
    "GIF": ("image/gif", ".gif"),
}
_LARGEST: Final = 4096
"""Pixels of a side; a larger picture is drawn in this size."""


@dataclass(frozen=True, slots=True)
class PictureForm:
    """Kind and size of a picture.

    Attributes:
        kind: Pillow's name of its format.
        width: Its width in pixels.
        height: Its height in pixels.
    """

    kind: str = "PNG"
    width: int = 512
    height: int = 512

    @property
    def media_type(self) -> str:
        """The media type of the format."""
        return _KINDS[self.kind][0]

    @property
    def suffix(self) -> str:
        """The suffix of its file."""
        return _KINDS[self.kind][1]


def form_of(content: bytes) -> PictureForm | None:
    """Returns the form of a picture by its header; None if it is none, or of another kind."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Image.open(BytesIO(content), formats=tuple(_KINDS)) as picture:
                width, height = (min(side, _LARGEST) for side in picture.size)
                return PictureForm(picture.format or "PNG", width, height)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Warning):
        return None


def drawn(form: PictureForm, digest: str) -> bytes:
    """Returns a picture of stripes.

    Args:
        form: Its kind and size.
        digest: Hexadecimal digits that the colours are made from.
    """
    colours = [tuple(bytes.fromhex(digest[at : at + 6])) for at in (0, 6, 12)]
    picture = Image.new("RGB", (form.width, form.height), colours[0])
    draw = ImageDraw.Draw(picture)
    third = max(form.height // 3, 1)
    for place, colour in enumerate(colours[1:], 1):
        draw.rectangle((0, place * third, form.width, form.height), fill=colour)
    content = BytesIO()
    picture.save(content, form.kind)
    return content.getvalue()
