"""QR codes, judged by their pixels (interface, Public and optionally authenticated).

A decoder that shares nothing with what drew them reads them back; sizes come from the picture and
not from a header.
"""

import re
from functools import lru_cache
from io import BytesIO
from typing import Final, NamedTuple
from urllib.parse import parse_qs

import zxingcpp
from PIL import Image, UnidentifiedImageError

from understudy.deployments.exchange import Exchange, split
from understudy.interface.operations import PROFILES, QR_CODE
from understudy.verify.checks import (
    CheckResult,
    check,
    expect,
    expect_equal,
    expect_refused,
    expect_status,
)
from understudy.verify.history import History, profile_in

PNG: Final = b"\x89PNG\r\n\x1a\n"
DEFAULT_SIZE: Final = 80  # interface, Limits: QR code default size, in pixels
READABLE: Final = 160
"""From so many pixels on a code must be readable; below, modules are too small to blame anybody."""
LARGEST: Final = 2048
CENTRE: Final = 0.2
"""The share of a code's side where an icon stands."""
ICONS: Final = ("none", "user", "service")
DOTS: Final = (0.5, 0.95)
"""What dots leave dark of the same code in squares: a circle in a square is 0.79."""


class Picture(NamedTuple):
    """What a QR code shows.

    Attributes:
        size: Width and height in pixels; None for what is no picture.
        text: What a decoder reads; empty where it reads nothing.
        dark: Share of dark pixels.
        centre: The pixels in the middle.
    """

    size: tuple[int, int] | None
    text: str = ""
    dark: float = 0.0
    centre: bytes = b""


@lru_cache(maxsize=512)
def seen(content: bytes) -> Picture:
    """Looks at a picture."""
    try:
        with Image.open(BytesIO(content)) as opened:
            if max(opened.size) > 2 * LARGEST:
                return Picture(opened.size)
            image = opened.convert("L")
    except (UnidentifiedImageError, OSError):
        return Picture(None)
    found = zxingcpp.read_barcodes(
        image, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)
    )
    dark = sum(image.histogram()[:128]) / (image.width * image.height)
    edge = image.width * (1 - CENTRE) / 2
    centre = image.crop((int(edge), int(edge), int(image.width - edge), int(image.height - edge)))
    return Picture(image.size, found[0].text if found else "", dark, centre.tobytes())


def _picture(exchange: Exchange) -> Picture | None:
    if exchange.status != 200 or exchange.request.method != "GET":  # noqa: PLR2004 - OK
        return None
    return seen(exchange.response.body)


def _size(exchange: Exchange) -> int | None:
    """Returns the size that was asked for, where it was asked for clearly."""
    given = [text for name, text in exchange.request.pairs if name == "size"]
    if not given:
        return DEFAULT_SIZE
    text = given[0]
    is_clear = len(given) == 1 and re.fullmatch(r"[1-9]\d{0,3}", text, re.ASCII)
    return int(text) if is_clear and int(text) <= LARGEST else None


def _is_readable(exchange: Exchange, picture: Picture) -> bool:
    long = sum(len(text) for _, text in exchange.request.pairs) + len(exchange.value)
    enough = READABLE if long < 100 else 4 * READABLE  # noqa: PLR2004 - characters
    return picture.size is not None and min(picture.size) >= enough and long < 400  # noqa: PLR2004 - characters


@check("qr-png", on=[QR_CODE])
def _png(exchange: Exchange, _history: History) -> CheckResult | None:
    picture = _picture(exchange)
    if picture is None:
        return None
    is_png = exchange.response.media_type == "image/png" and exchange.response.body.startswith(PNG)
    actual = f"{exchange.response.media_type}, {exchange.response.body[:8]!r}"
    return expect(is_png and picture.size is not None, "a PNG that can be opened", actual)


@check("qr-points-to-profile", on=[QR_CODE])
def _points(exchange: Exchange, history: History) -> CheckResult | None:
    picture = _picture(exchange)
    if picture is None or not _is_readable(exchange, picture):
        return None
    if not picture.text:
        return expect(
            condition=False, expected="a code that a decoder reads", actual="it reads nothing"
        )
    for before in history.of(*PROFILES):
        profile = profile_in(before)
        if profile and exchange.value in {before.value, profile.get("hash")}:
            address = picture.text.partition("?")[0]
            return expect_equal(address, profile.get("profile_url"), "the address", before)
    return None


@check("qr-size-exact", on=[QR_CODE])
def _exact(exchange: Exchange, _history: History) -> CheckResult | None:
    picture, size = _picture(exchange), _size(exchange)
    if picture is None or size is None or "size" not in exchange.request.query:
        return None
    return expect_equal(picture.size, (size, size), "the size in pixels")


@check("qr-default-size", on=[QR_CODE])
def _default(exchange: Exchange, _history: History) -> CheckResult | None:
    picture = _picture(exchange)
    if picture is None or "size" in exchange.request.query:
        return None
    return expect_equal(picture.size, (DEFAULT_SIZE, DEFAULT_SIZE), "the size in pixels")


@check("qr-versions", on=[QR_CODE])
def _versions(exchange: Exchange, history: History) -> CheckResult | None:
    picture = _picture(exchange)
    if picture is None or not _is_readable(exchange, picture):
        return None
    before = _twin(exchange, history, "version", {"1": "3", "3": "1"})
    other = _picture(before) if before else None
    if before is None or other is None or not other.dark or not picture.dark:
        return None
    is_dotted = exchange.request.query["version"] == "3"
    dots, squares = (picture.dark, other.dark) if is_dotted else (other.dark, picture.dark)
    least, most = DOTS
    actual = f"version 3 is {dots / squares:.2f} as dark as version 1"
    return expect(least < dots / squares < most, "dots in version 3, squares in 1", actual, before)


@check("qr-version-values", on=[QR_CODE])
def _version_values(exchange: Exchange, _history: History) -> CheckResult | None:
    given = exchange.request.query.get("version")
    if given is None or exchange.request.method != "GET" or len(exchange.request.pairs) > 1:
        return None
    if given in {"1", "3"}:
        return expect_status(exchange, 200)
    return expect_refused(exchange) if given.isascii() and given.isdecimal() else None


@check("qr-utm-parameters", on=[QR_CODE])
def _utm(exchange: Exchange, _history: History) -> CheckResult | None:
    picture = _picture(exchange)
    given = {
        name: [text]
        for name, text in exchange.request.pairs
        if name in {"utm_medium", "utm_campaign"} and text
    }
    if picture is None or not given or not picture.text or not _is_readable(exchange, picture):
        return None
    carried = parse_qs(split(picture.text).query)
    return expect(given.items() <= carried.items(), f"{given} in the address", carried)


@check("qr-centre-icon", on=[QR_CODE])
def _icon(exchange: Exchange, history: History) -> CheckResult | None:
    picture = _picture(exchange)
    if picture is None or not _is_readable(exchange, picture):
        return None
    kind = exchange.request.query.get("type", "")
    others = (_twin(exchange, history, "type", {kind: other}) for other in ICONS if other != kind)
    twins = [twin for twin in others if twin is not None]
    alike = [twin for twin in twins if _centre(twin) == picture.centre]
    return expect(not alike, "another centre", "the same centre", *twins) if twins else None


def _centre(exchange: Exchange) -> bytes:
    picture = _picture(exchange)
    return picture.centre if picture else b""


@check("qr-type-values", on=[QR_CODE])
def _type_values(exchange: Exchange, _history: History) -> CheckResult | None:
    given = exchange.request.query.get("type")
    if given is None or len(exchange.request.pairs) > 1 or exchange.request.method != "GET":
        return None
    if given in {"user", "service", "none"}:
        return expect_status(exchange, 200)
    return expect_refused(exchange) if given.isalpha() and given.isascii() else None


@check("qr-unknown-hash", on=[QR_CODE])
def _unknown(exchange: Exchange, history: History) -> CheckResult | None:
    if not history.is_made_up(exchange.value) or exchange.request.pairs:
        return None
    return expect(exchange.status == 200, "a picture all the same", f"status {exchange.status}")  # noqa: PLR2004 - OK


@check("qr-no-authentication", on=[QR_CODE])
def _no_authentication(exchange: Exchange, history: History) -> CheckResult | None:
    if not history.is_public(exchange.value) or exchange.request.pairs:
        return None
    if exchange.request.method != "GET" or exchange.request.header("accept") not in {"", "*/*"}:
        return None
    return expect_status(exchange, 200)


@check("qr-size-bounds", on=[QR_CODE])
def _bounds(exchange: Exchange, history: History) -> CheckResult | None:
    given = exchange.request.query.get("size", "")
    is_alone = len(exchange.request.pairs) == 1 and exchange.request.method == "GET"
    if not (is_alone and re.fullmatch(r"-?\d{1,9}", given, re.ASCII)):
        return None
    if 1 <= int(given) <= LARGEST:
        return expect_status(exchange, 200) if history.is_public(exchange.value) else None
    return expect_status(exchange, 400)


def _twin(
    exchange: Exchange, history: History, name: str, others: dict[str, str]
) -> Exchange | None:
    """Returns the same code with another value of one parameter."""
    wanted = others.get(exchange.request.query.get(name, ""))
    if wanted is None:
        return None
    query = {**exchange.request.query, name: wanted}
    for before in history.of(QR_CODE):
        if before.value == exchange.value and dict(before.request.query) == query:
            return before
    return None
