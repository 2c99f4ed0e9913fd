"""Options of QR codes and their validation, without the drawing, whose import takes long."""

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
    """Returns a validated size in pixels; the document in force may declare any type for it.

    Args:
        size: Requested size.
        least: Smallest size allowed; the interface gives no bound (Limits, 4).
        largest: Largest size allowed.

    Raises:
        BadRequest: The size is not a whole number from `least` to `largest`.
    """
    pixels = _whole_number("size", size)
    if not least <= pixels <= largest:
        msg = f"size: must be from {least} to {largest}, got {pixels}."
        raise BadRequest(msg, code="invalid_parameter")
    return pixels


def checked_version(version: int | str) -> int:
    """Returns a validated version.

    Raises:
        BadRequest: The version is neither 1 nor 3.
    """
    number = _whole_number("version", version)
    if number not in {STANDARD, DOTS}:
        msg = f"version: must be {STANDARD} or {DOTS}, got {number}."
        raise BadRequest(msg, code="invalid_parameter")
    return number


def centre_icon(type_: str, words: QrTypeWords) -> CentreIcon:
    """Returns the icon for a value of the parameter ``type``.

    Args:
        type_: Value of the parameter; empty if absent. Deployments use different names for the
            service's logo, so every unknown value means the logo.
        words: Names of the types in the deployment.
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
