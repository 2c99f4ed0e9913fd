"""Makes pictures for uploads, compares them, and reads QR codes by their pixels.

The decoder shares no code with the mock's encoder. Sizes come from the picture, not from a header.
"""

import re
from functools import cache, lru_cache
from http import HTTPStatus
from io import BytesIO
from typing import Final, NamedTuple

import zxingcpp
from PIL import Image, UnidentifiedImageError

from understudy.exchange.messages import Exchange
from understudy.interface.operations import DELETE_AVATAR, QR_CODE, UPLOAD_AVATAR, DeclaredInputs
from understudy.verify.checks import tells
from understudy.verify.history import MADE_UP, History
from understudy.verify.probe_client import ProbeClient

DEFAULT_SIZE: Final = 80  # interface, Limits: QR code default size, in pixels
LARGEST: Final = 2048
"""Pixels: the largest size that the mock draws, and that rules speak of."""

MOST_DRAWN: Final = 2 * LARGEST
"""Pixels: the largest size that is requested or decoded, whatever a document allows."""

READABLE: Final = 160
"""The least width in pixels of a code that must be readable; smaller modules cannot be judged."""

LONG: Final = 100
"""Characters in a request from which a code is so dense that it needs four times the width."""

TOO_LONG: Final = 400
"""Characters in a request from which the decoder is not reliable."""

CENTRE: Final = 0.2
"""Share of a code's side that an icon in the middle may cover."""


class Picture(NamedTuple):
    """The picture of a QR code as a decoder and its pixels show it.

    Attributes:
        size: Width and height in pixels; None if the content is not a picture.
        media_type: The media type of its format; empty if that is not known.
        text: The text that the decoder reads; empty if it reads none.
        dark: Share of dark pixels.
        centre: The pixels in the middle.
    """

    size: tuple[int, int] | None
    media_type: str = ""
    text: str = ""
    dark: float = 0.0
    centre: bytes = b""


@lru_cache(maxsize=512)  # several checks look at one picture
def decoded(content: bytes) -> Picture:
    """Decodes a picture."""
    try:
        with Image.open(BytesIO(content)) as opened:
            media_type = Image.MIME.get(opened.format or "", "")
            if max(opened.size) > MOST_DRAWN:
                return Picture(opened.size, media_type)
            image = opened.convert("L")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        return Picture(None)
    # Given an Image, the decoder calls back into Python, and takes Ctrl-C there for a bad picture.
    pixels = memoryview(image.tobytes()).cast("B", (image.height, image.width))
    codes = zxingcpp.read_barcodes(
        pixels, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)
    )
    dark = sum(image.histogram()[:128]) / (image.width * image.height)
    left, top = (int(side * (1 - CENTRE) / 2) for side in image.size)
    centre = image.crop((left, top, image.width - left, image.height - top))
    text = codes[0].text if codes else ""
    return Picture(image.size, media_type, text, dark, centre.tobytes())


def picture_of(exchange: Exchange) -> Picture:
    """Returns the picture of a response."""
    return decoded(exchange.response.body)


def requested_size(exchange: Exchange) -> int | None:
    """Returns the requested size in pixels; None if the request is ambiguous."""
    sizes = [text for name, text in exchange.request.pairs if name == "size"]
    if not sizes:
        return DEFAULT_SIZE
    is_clear = len(sizes) == 1 and re.fullmatch(r"[1-9]\d{0,3}", sizes[0], re.ASCII)
    return int(sizes[0]) if is_clear and int(sizes[0]) <= LARGEST else None


def size_bounds(inputs: DeclaredInputs) -> tuple[int, int]:
    """Returns the smallest and the largest width in pixels; the mock's if none is declared."""
    least, largest = inputs.least_qr_size, inputs.largest_qr_size
    return (1 if least is None else least, LARGEST if largest is None else largest)


def fitting(client: ProbeClient, size: int) -> str:
    """Returns the text of a width, or of the nearest that the document in force allows."""
    least, largest = size_bounds(client.inputs)
    return str(max(least, min(size, largest)))


def with_other(
    exchange: Exchange, history: History, name: str, other: str | None
) -> Exchange | None:
    """Returns the newest exchange for the same code with another value of one parameter."""
    if other is None:
        return None
    query = {**exchange.request.query, name: other}
    for before in history.of(QR_CODE):
        if before.value == exchange.value and dict(before.request.query) == query:
            return before
    return None


is_drawn = tells(
    "a code was drawn", lambda it, _: it.status == HTTPStatus.OK and it.request.method == "GET"
)


def is_readable(exchange: Exchange, history: History) -> bool:
    """Tells whether a code was drawn that is large enough to be read."""
    if not is_drawn(exchange, history):
        return False
    length = sum(len(text) for _, text in exchange.request.pairs) + len(exchange.value)
    enough = READABLE if length < LONG else 4 * READABLE
    size = picture_of(exchange).size
    return size is not None and min(size) >= enough and length < TOO_LONG


has_no_parameters = tells("the query is empty", lambda it, _: not it.request.pairs)
has_one_parameter = tells("the query has one parameter", lambda it, _: len(it.request.pairs) == 1)


def draw(client: ProbeClient, **query: str) -> Exchange:
    """Draws a code of the test account's profile."""
    return client.get(f"/qr-code/{client.known.slug}", query=query)


SIDE: Final = 500
"""Pixels: the width of an uploaded picture, large enough for every deployment.

It is below the range of ``upload-largest-side``, so that no refusal is read as one of its width.
"""


@cache
def picture(form: str = "PNG", size: tuple[int, int] = (SIDE, SIDE)) -> bytes:
    """Returns a picture of few bytes.

    Args:
        form: Name of the format in Pillow, such as ``JPEG``.
        size: Width and height in pixels.
    """
    content = BytesIO()
    Image.new("RGB", size, (70, 110, 160)).save(content, form)
    return content.getvalue()


THUMBNAIL: Final = (8, 8)
ALIKE: Final = 25
"""Largest mean difference of colours between two encodings of one picture."""


@cache  # drawn once, however often it is compared
def patterned(number: int) -> bytes:
    """Returns a picture of four fields, unlike that of another number and its mirror image."""
    content = BytesIO()
    fields = Image.new("RGB", (2, 2))
    for place in range(4):
        shade = (number * 3 + place) % 4
        fields.putpixel(
            (place % 2, place // 2),
            (255 * (shade & 1), 255 * (shade >> 1), 255 * (place // 2)),
        )
    fields.resize((SIDE, SIDE), Image.Resampling.NEAREST).save(content, "PNG")
    return content.getvalue()


def look_alike(one: bytes, other: bytes) -> bool | None:
    """Returns whether two files show the same picture; None if one of them is not a picture."""
    try:
        small = [
            Image.open(BytesIO(content)).convert("RGB").resize(THUMBNAIL).tobytes()
            for content in (one, other)
        ]
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        return None
    differences = [abs(first - second) for first, second in zip(*small, strict=True)]
    return bool(sum(differences) <= ALIKE * len(differences))


@lru_cache(maxsize=32)
def plain_picture(side: int) -> bytes:
    """Returns a square of one colour, which takes few bytes at any size.

    Args:
        side: Width and height in pixels.
    """
    content = BytesIO()
    Image.new("1", (side, side)).save(content, "PNG")
    return content.getvalue()


def upload(client: ProbeClient, content: bytes, who: str = "owner", **query: str) -> Exchange:
    """Uploads a picture under the field name of the document in force."""
    files = {client.inputs.upload_field: ("understudy.png", content, "image/png")}
    return client.send("POST", "/me/avatars", who, query=query, files=files)


def assign(client: ProbeClient, image: str, hash_: str, who: str = "owner") -> Exchange:
    """Selects an avatar for the e-mail address of a hash."""
    return client.send("POST", f"/me/avatars/{image}/email", who, json={"email_hash": hash_})


def an_avatar(client: ProbeClient) -> str:
    """Returns the id of an avatar that this run uploaded; uploads one if there is none."""
    own = [it for it in client.earlier if it.identity.account == "own"]
    gone = {it.value for it in own if it.operation == DELETE_AVATAR}
    made = (it for it in own if it.operation == UPLOAD_AVATAR and it.response.is_success)
    existing = (image for image in map(id_of, made) if image not in gone)
    return next(existing, None) or id_of(upload(client, picture(), select_avatar="false"))


def id_of(exchange: Exchange) -> str:
    """Returns the id of an uploaded avatar; a made-up one if the response has none."""
    return str(exchange.json_object.get("image_id", MADE_UP))


def avatars(client: ProbeClient, hash_: str | None = None, who: str = "owner") -> Exchange:
    """Lists the avatars of an account, with the selection for an e-mail hash if one is passed."""
    return client.get("/me/avatars", who, {"selected_email_hash": hash_} if hash_ else ())
