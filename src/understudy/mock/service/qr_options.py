"""Names what a QR code can look like, apart from the drawing, which takes long to import."""

from typing import Literal

from understudy.errors import BadRequest
from understudy.interface.rules import upholds
from understudy.interface.vocabulary import QrTypeWords

CentreIcon = Literal["user", "service", "none"]

STANDARD = 1  # interface, qr-code: the values of ``version``
DOTS = 3

DEFAULT_SIZE = 80  # pixels; interface, Limits: QR code default size

_DIGITS = 9


@upholds("qr-size-bounds", "qr-smallest-size")
def checked_size(size: int | str, least: int, largest: int) -> int:
    """Returns a size in pixels, which the document in force may declare as any type.

    Args:
        size: The requested size.
        least: The smallest that is drawn; the interface gives no bound (Limits, 4).
        largest: The largest that is drawn.

    Raises:
        BadRequest: It is not a whole number from `least` to `largest`.
    """
    pixels = _whole_number("size", size)
    if not least <= pixels <= largest:
        msg = f"size: must be from {least} to {largest}, got {pixels}."
        raise BadRequest(msg, code="invalid_parameter")
    return pixels


def checked_version(version: int | str) -> int:
    """Returns a version that can be drawn.

    Raises:
        BadRequest: It is another one.
    """
    number = _whole_number("version", version)
    if number not in {STANDARD, DOTS}:
        msg = f"version: must be {STANDARD} or {DOTS}, got {number}."
        raise BadRequest(msg, code="invalid_parameter")
    return number


def centre_icon(type_: str, words: QrTypeWords) -> CentreIcon:
    """Returns the icon of a ``type``.

    Args:
        type_: The value of the parameter; empty without one. A document in force may name the
            service's logo by any word, so that every other word counts as that.
        words: The words of the deployment.
    """
    if type_ in {"", "none", words.none}:
        return "none"
    return "user" if type_ in {"user", words.user} else "service"


def _whole_number(name: str, value: int | str) -> int:
    text = str(value)
    if not text.isascii() or not text.isdecimal() or len(text) > _DIGITS:
        msg = f"{name}: must be a whole number, got {text[:20]!r}."
        raise BadRequest(msg, code="invalid_parameter")
    return int(text)
