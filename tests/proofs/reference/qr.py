"""QR codes that lead to a profile.

Drawn large and scaled down, so that any size is exact and the smallest stay readable; the icon
takes so little of the middle that the code's own redundancy restores what it hides.
"""

from io import BytesIO
from urllib.parse import quote, urlencode

import qrcode
from flask import Blueprint, Response, request
from PIL import Image, ImageDraw, ImageOps
from qrcode.constants import ERROR_CORRECT_M, ERROR_CORRECT_Q
from qrcode.exceptions import DataOverflowError
from tests.proofs.reference.profiles import found, profile_url
from tests.proofs.reference.queries import single
from tests.proofs.reference.refusals import refuse, refuse_missing
from tests.proofs.reference.service import chose, number, service
from tests.proofs.reference.state import Shown

DEFAULT_SIZE = 80
"""Pixels (interface, Limits)."""
SMALLEST, LARGEST = 1, 2000
"""Pixels; the interface sets no bounds."""
MODULE = 8
"""Pixels of a module before it is scaled."""
FINDER = 4 + 7
"""Modules of the quiet zone and of the square in three corners, which is never made of dots."""
VERSIONS = {"1": False, "3": True}
"""Whether a version draws dots."""
TYPES = ("none", "user", "service")

qr = Blueprint("qr", __name__, url_prefix="/v3")


@qr.get("/qr-code/<identifier>")
def qr_code(identifier: str) -> Response:
    """Draws the way to a profile, whether or not there is one."""
    version = _text("version", "1")
    if version not in VERSIONS:
        refuse(f"version is {version!r}; send 1 or 3.")
    kind = _text("type", "none")
    if kind not in TYPES:
        refuse(f"type is {kind!r}; send {', '.join(TYPES)}.")
    size = _size(_text("size", str(DEFAULT_SIZE)))
    shown = found(identifier)
    if shown is None and chose("qr-unknown-hash", "404"):
        refuse_missing(f"There is no profile for {identifier!r}.")
    icon = None if kind == "none" else _icon(kind, shown)
    image = drawn(_address(identifier, shown), size, has_dots=VERSIONS[version], icon=icon)
    file = BytesIO()
    image.save(file, "PNG")
    return Response(file.getvalue(), mimetype="image/png")


def drawn(text: str, size: int, *, has_dots: bool, icon: Image.Image | None) -> Image.Image:
    """Draws a text as a QR code.

    Args:
        text: What a scanner reads.
        size: Pixels of a side, the quiet zone of four modules included.
        has_dots: Whether modules are round.
        icon: What stands in the middle; at any size.

    Raises:
        Refused: The text is longer than a QR code can hold.
    """
    code = qrcode.QRCode(error_correction=ERROR_CORRECT_Q if icon else ERROR_CORRECT_M)
    code.add_data(text)
    try:
        code.make(fit=True)
    except (DataOverflowError, ValueError):
        refuse("The address is longer than a QR code can hold.")
    matrix = code.get_matrix()
    side = len(matrix)
    image = Image.new("RGB", (side * MODULE, side * MODULE), "white")
    draw = ImageDraw.Draw(image)
    for y, row in enumerate(matrix):
        for x in (x for x, is_dark in enumerate(row) if is_dark):
            left, top = x * MODULE, y * MODULE
            box = (left, top, left + MODULE - 1, top + MODULE - 1)
            is_round = has_dots and not _is_in_finder(x, y, side)
            (draw.ellipse if is_round else draw.rectangle)(box, fill="black")
    if icon:
        width = side * MODULE // 5
        corner = (side * MODULE - width) // 2
        image.paste(ImageOps.fit(icon, (width, width)), (corner, corner))
    return image.resize((size, size), Image.Resampling.LANCZOS)


def _text(name: str, otherwise: str) -> str:
    text = single(name)
    return otherwise if text is None else text


def _size(text: str) -> int:
    largest = number("qr-largest-size", LARGEST)
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(largest))):
        message = f"size is {text!r}; send a whole number of pixels."
        refuse(message, switch="invalid-parameter-error")
    least = number("qr-smallest-size", SMALLEST)
    if not least <= int(text) <= largest:
        refuse(f"size is {text}; send {least} to {largest} pixels.")
    return int(text)


def _address(identifier: str, shown: Shown | None) -> str:
    site = service().addresses
    address = profile_url(shown, site) if shown else f"{site.site}/{quote(identifier, safe='')}"
    wanted = {name: request.args.get(name) for name in ("utm_medium", "utm_campaign")}
    query = urlencode({name: value for name, value in wanted.items() if value})
    return f"{address}?{query}" if query else address


def _icon(kind: str, shown: Shown | None) -> Image.Image:
    icon = Image.new("RGB", (120, 120), "white")
    draw = ImageDraw.Draw(icon)
    if kind == "user" and shown is not None and shown.avatar is not None:
        with Image.open(BytesIO(shown.avatar.content)) as picture:
            return picture.convert("RGB")
    if kind == "user":
        draw.ellipse((40, 15, 80, 55), fill="dimgray")
        draw.pieslice((20, 60, 100, 160), 180, 360, fill="dimgray")
    else:
        draw.ellipse((10, 10, 110, 110), fill="darkcyan")
    return icon


def _is_in_finder(x: int, y: int, side: int) -> bool:
    is_at_left, is_at_top = x < FINDER, y < FINDER
    is_at_right, is_at_bottom = x >= side - FINDER, y >= side - FINDER
    return (is_at_left and (is_at_top or is_at_bottom)) or (is_at_right and is_at_top)
