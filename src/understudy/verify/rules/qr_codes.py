"""QR codes: size, look and URL (interface, Public and optionally authenticated; Limits)."""

import re
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs

from understudy.exchange.messages import Exchange, split
from understudy.interface.operations import PROFILES, QR_CODE
from understudy.verify.checks import (
    CheckResult,
    accepts_anything,
    check,
    demands,
    document_allows,
    document_allows_no_such,
    expect,
    expect_equal,
    expect_refused,
    expect_status,
    found,
    is_get,
    is_public_profile,
    is_unknown_identifier,
    proven,
    tells,
    unless,
)
from understudy.verify.history import MADE_UP, History, profile_in
from understudy.verify.pictures import (
    DEFAULT_SIZE,
    MOST_DRAWN,
    draw,
    fitting,
    has_no_parameters,
    has_one_parameter,
    is_drawn,
    is_readable,
    picture_of,
    requested_size,
    size_bounds,
    with_other,
)
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.switches import experiment, number_reading, reading, status_of
from understudy.verify.value_texts import BITING, as_json

PNG: Final = b"\x89PNG\r\n\x1a\n"
COMMON: Final = 480
"""Largest size, in pixels, that every deployment must draw: the interface shows no bounds."""

LARGE: Final = 320
"""Size, in pixels, at which a decoder can read every code."""


def profile_behind(exchange: Exchange, history: History) -> Exchange | None:
    """Returns an earlier response with the profile that a code must point to."""
    for before in history.of(*PROFILES):
        profile = profile_in(before)
        if profile and exchange.value in {before.value, profile.get("hash")}:
            return before
    return None


profile_was_seen = found(profile_behind, "the profile was looked up")


has_text = tells("a decoder reads the code", lambda it, _: bool(picture_of(it).text))


def _campaign(exchange: Exchange) -> dict[str, list[str]]:
    names = {"utm_medium", "utm_campaign"}
    return {name: [text] for name, text in exchange.request.pairs if name in names and text}


has_campaign = tells("a campaign or a medium was requested", lambda it, _: bool(_campaign(it)))
requests_clear_size = tells(
    "the requested size is one whole number within the bounds",
    lambda it, _: "size" in it.request.query and requested_size(it) is not None,
)


def requests_common_size(exchange: Exchange, history: History) -> bool:
    """Tells whether the requested size is one that every deployment must draw."""
    if not requests_clear_size(exchange, history):
        return False
    return DEFAULT_SIZE <= proven(requested_size(exchange)) <= COMMON


requests_no_size = tells("no size was requested", lambda it, _: "size" not in it.request.query)
size_is_number = tells(
    "the size is a whole number",
    lambda it, _: bool(re.fullmatch(r"-?\d{1,9}", it.request.query.get("size", ""), re.ASCII)),
)


def is_within_bounds(exchange: Exchange, history: History) -> bool:
    """Tells whether the size is within the bounds."""
    least, largest = size_bounds(history.inputs)
    return least <= int(exchange.request.query["size"]) <= largest


is_beyond_bounds = unless(is_within_bounds, "the size is beyond the bounds")


_ONE_SIZE = (is_get, has_one_parameter, size_is_number)


@check("qr-png", on=[QR_CODE], when=[is_drawn])
def code_is_png(exchange: Exchange, _history: History) -> CheckResult:
    """A code is a PNG that can be opened."""
    response = exchange.response
    is_png = response.media_type == "image/png" and response.body.startswith(PNG)
    beginning = response.body[:8].decode(errors="replace")
    actual = f"{response.media_type}, {as_json(beginning)}"
    is_right = is_png and picture_of(exchange).size is not None
    return expect(is_right, "a PNG that can be opened", actual)


@check("qr-points-to-profile", on=[QR_CODE], when=[is_readable])
def code_can_be_read(exchange: Exchange, _history: History) -> CheckResult:
    """A decoder can read the code."""
    is_read = bool(picture_of(exchange).text)
    return expect(is_read, "a code that a decoder reads", "the decoder reads nothing")


@check("qr-points-to-profile", on=[QR_CODE], when=[is_readable, has_text, profile_was_seen])
def code_points_to_profile(exchange: Exchange, history: History) -> CheckResult:
    """A code holds the profile's URL."""
    before = proven(profile_behind(exchange, history))
    address = picture_of(exchange).text.partition("?")[0]
    return expect_equal(address, profile_in(before).get("profile_url"), "the URL", before)


@check("qr-utm-parameters", on=[QR_CODE], when=[has_campaign, is_readable, has_text])
def code_carries_campaign(exchange: Exchange, history: History) -> CheckResult:
    """The URL of a code carries the requested campaign and medium."""
    carried = parse_qs(split(picture_of(exchange).text).query)
    campaign = _campaign(exchange)
    is_right = campaign.items() <= carried.items()
    alike = (each for each in history.of(QR_CODE) if each.response.body == exchange.response.body)
    cached = next((each for each in alike if each.request != exchange.request), None)
    return expect(is_right, f"{as_json(campaign)} in the URL", carried, cached)


def _expect_requested_size(exchange: Exchange) -> CheckResult:
    size = requested_size(exchange)
    return expect_equal(picture_of(exchange).size, (size, size), "the size in pixels")


@check("qr-default-size", on=[QR_CODE], when=[requests_no_size, is_drawn])
def size_is_the_default(exchange: Exchange, _history: History) -> CheckResult:
    """A code is 80 pixels wide if no size is requested."""
    size = (DEFAULT_SIZE, DEFAULT_SIZE)
    return expect_equal(picture_of(exchange).size, size, "the size in pixels")


@check(
    "qr-unknown-hash",
    on=[QR_CODE],
    when=[is_unknown_identifier, has_no_parameters, document_allows],
)
def unknown_identifier_is_drawn(exchange: Exchange, _history: History) -> CheckResult:
    """A code is drawn for an unknown identifier too: the interface has no 404 here."""
    return expect(
        exchange.status == HTTPStatus.OK, "status 200, with a picture", f"status {exchange.status}"
    )


@probe("qr-png", "qr-default-size", "qr-no-authentication", needs=("slug",))
def plain_codes(client: ProbeClient) -> Parts:
    """Requests a code without parameters, anonymously and with every available token."""
    for who in filter(client.has, ("anonymous", "wrong", "expired", "owner", "api_key")):
        yield client.get(f"/qr-code/{client.known.slug}", who)


@probe("qr-points-to-profile", needs=("hashes",))
def code_by_hash(client: ProbeClient) -> None:
    """Requests the code of a person by hash, and that of another person."""
    client.recall(f"/profiles/{client.known.own_hashes[0]}", is_lasting=True)
    size = {"size": fitting(client, LARGE)}
    client.get(f"/qr-code/{client.known.own_hashes[0]}", query=size)
    if client.known.other_slug:
        client.recall(f"/profiles/{client.known.other_slug}", is_lasting=True)
        client.get(f"/qr-code/{client.known.other_slug}", query=size)


@probe("qr-utm-parameters", needs=("slug",))
def code_with_campaign(client: ProbeClient) -> None:
    """Requests codes with texts that are easily altered, some with one of the two texts alone."""
    size = fitting(client, 480)
    draw(client, size=size, utm_medium="print + web & 1", utm_campaign="Spring Fair +2")
    draw(client, size=size, utm_medium="print + web & 1", utm_campaign=BITING[0])
    long = dict.fromkeys(("utm_medium", "utm_campaign"), f"{BITING[1]} {'and on ' * 14}end")
    draw(client, size=fitting(client, 800), **long)
    draw(client, size=size, utm_medium=BITING[1], utm_campaign="Spring Fair +2")


@probe("qr-size-bounds", "error-shape", "qr-size-exact", needs=("slug",))
def code_sizes(client: ProbeClient) -> Parts:
    """Requests sizes on the bounds and just beyond them, and an odd size."""
    least, largest = size_bounds(client.inputs)
    drawn = min(largest, MOST_DRAWN)
    for size in (largest + 1, least, drawn, least - 1, min(largest, 137)):
        yield draw(client, size=str(size))


@probe("qr-unknown-hash")
def code_of_unknown_identifier(client: ProbeClient) -> None:
    """Requests a code for an identifier that does not exist."""
    client.get(f"/qr-code/{MADE_UP}-slug")


# How QR codes look: squares or dots, and the icon in the centre (interface, Public operations).

SQUARES, DOTS = "1", "3"  # interface: version 1 is standard, version 3 has modern dots
STATED_ICONS: Final = ("none", "user")
"""Icons that the interface names; only the document names the one with the service's logo."""

SHARE_OF_DOTS: Final = (0.5, 0.95)
"""Bounds of the ratio of dark pixels, dots to squares: a circle covers 0.79 of its square."""


def in_other_version(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the earlier exchange that drew the same code in the other version."""
    other = {SQUARES: DOTS, DOTS: SQUARES}.get(exchange.request.query.get("version", ""))
    return with_other(exchange, history, "version", other)


def is_drawn_in_both_versions(exchange: Exchange, history: History) -> bool:
    """Tells whether the same code was drawn in both versions."""
    before = in_other_version(exchange, history)
    if before is None or not is_drawn(before, history):
        return False
    return bool(picture_of(before).dark and picture_of(exchange).dark)


def with_other_icons(exchange: Exchange, history: History) -> list[Exchange]:
    """Returns the earlier exchanges that drew the same code with other icons."""
    icon = exchange.request.query.get("type")
    if icon is None:
        return []
    others = (
        with_other(exchange, history, "type", other)
        for other in history.inputs.qr_types
        if other != icon
    )
    return [other for other in others if other is not None]


is_drawn_with_other_icon = tells(
    "the same code was requested with another icon",
    lambda it, history: bool(with_other_icons(it, history)),
)
version_exists = tells(
    "the version is 1 or 3", lambda it, _: it.request.query.get("version") in {SQUARES, DOTS}
)


def version_does_not_exist(exchange: Exchange, _history: History) -> bool:
    """Tells whether the version is a number that does not exist."""
    version = exchange.request.query.get("version", "")
    is_number = version.isascii() and version.isdecimal()
    return is_number and version not in {SQUARES, DOTS}


icon_exists = tells(
    "the type is one that the document declares",
    lambda it, history: it.request.query.get("type") in history.inputs.qr_types,
)
icon_has_stated_name = tells(
    "the type is one that the interface names",
    lambda it, _: it.request.query.get("type") in STATED_ICONS,
)


def icon_does_not_exist(exchange: Exchange, history: History) -> bool:
    """Tells whether the type is a word that does not exist."""
    icon = exchange.request.query.get("type", "")
    return icon.isascii() and icon.isalpha() and icon not in history.inputs.qr_types


@check("qr-versions", on=[QR_CODE], when=[is_readable, is_drawn_in_both_versions])
def versions_differ_in_darkness(exchange: Exchange, history: History) -> CheckResult:
    """Version 3 has dots, which are less dark than the squares of version 1."""
    before = proven(in_other_version(exchange, history))
    now, then = picture_of(exchange).dark, picture_of(before).dark
    dots, squares = (now, then) if exchange.request.query["version"] == DOTS else (then, now)
    least, most = SHARE_OF_DOTS
    actual = f"version 3 is {dots / squares:.2f} as dark as version 1"
    return expect(least < dots / squares < most, "dots in version 3, squares in 1", actual, before)


@check("qr-centre-icon", on=[QR_CODE], when=[is_readable, is_drawn_with_other_icon])
def icons_differ(exchange: Exchange, history: History) -> CheckResult:
    """Codes with different icons, or without one, differ in the centre."""
    others = with_other_icons(exchange, history)
    centre = picture_of(exchange).centre
    alike = [
        other for other in others if is_drawn(other, history) and picture_of(other).centre == centre
    ]
    return expect(not alike, "another centre", "the same centre", *others)


@probe(
    "qr-points-to-profile",
    "qr-size-exact",
    "qr-utm-parameters",
    "qr-versions",
    "qr-centre-icon",
    needs=("slug",),
)
def codes_of_every_appearance(client: ProbeClient) -> Parts:
    """Requests the same code in squares and in dots, and with each icon."""
    client.recall(f"/profiles/{client.known.slug}", is_lasting=True)
    size, logo = fitting(client, LARGE), _logo(client)
    # Two icons for each version, one of them for both, so that four requests compare everything.
    for version, icon in (("1", logo), ("1", "user"), ("3", "user"), ("3", "none")):
        yield draw(client, size=size, version=version, type=icon, utm_medium="0")


@probe("qr-version-values", "qr-type-values", needs=("slug",))
def values_that_do_not_exist(client: ProbeClient) -> Parts:
    """Requests a version and a type that do not exist, and some that do."""
    yield draw(client, version="2")
    yield draw(client, type="sparkles")
    yield draw(client, version="3")
    yield draw(client, type="user")


def _logo(client: ProbeClient) -> str:
    """Returns the type that stands for the service's own logo in the document in force."""
    others = (icon for icon in client.inputs.qr_types if icon not in STATED_ICONS)
    return next(others, "user")


is_below_default = tells(
    "the requested width is below the default, so that bounds may refuse it",
    lambda it, history: 0 <= _requested_width(it, history) < DEFAULT_SIZE,
)


def _requested_width(exchange: Exchange, _history: History) -> int:
    return int(exchange.request.query["size"])


def _has_requested_width(exchange: Exchange) -> bool:
    width = int(exchange.request.query["size"])
    return exchange.response.is_success and picture_of(exchange).size == (width, width)


reading(
    "qr-unknown-hash",
    on=[QR_CODE],
    when=[is_unknown_identifier, has_no_parameters],
    read=lambda it: "picture" if it.response.is_success else status_of(it),
)
number_reading(
    "qr-size-bounds",
    QR_CODE,
    when=[is_get, has_one_parameter, size_is_number, is_public_profile],
    number=_requested_width,
    is_accepted=_has_requested_width,
)
number_reading(
    "qr-smallest-size",
    QR_CODE,
    when=[is_get, has_one_parameter, size_is_number, is_public_profile, is_below_default],
    number=lambda exchange, history: _requested_width(exchange, history) + 1,
    is_accepted=_has_requested_width,
    is_smallest=True,
)


@experiment(
    "qr-size-bounds",
    needs=("slug",),
    likely=(512, 600, 720, 800, 1000, 1024, 1200, 1500, 1600, 1920, 2000, 2048),
)
def code_of_size(client: ProbeClient, size: int) -> None:
    """Requests a code of this width in pixels."""
    draw(client, size=str(size))


@experiment("qr-smallest-size", needs=("slug",), likely=(1, 8, 10, 16, 20, 32, 40, 50, 64, 80))
def code_below(client: ProbeClient, least: int) -> None:
    """Requests a code one pixel narrower than a width that may be the smallest."""
    draw(client, size=str(least - 1))


# Rules that demand one outcome wherever their conditions hold.

_OF_ONE = (is_get, has_one_parameter, is_public_profile)

of_qr_code = demands(QR_CODE)
of_qr_code(
    "qr-size-exact", [requests_common_size, is_drawn, document_allows], _expect_requested_size
)
# A choice, since another deployment may limit the size.
of_qr_code(
    "qr-size-exact",
    [requests_clear_size, is_drawn, document_allows],
    _expect_requested_size,
    is_choice=True,
)
of_qr_code("qr-size-bounds", [*_ONE_SIZE, is_within_bounds, is_public_profile], expect_status, 200)
of_qr_code("qr-size-bounds", [*_ONE_SIZE, is_beyond_bounds], expect_status, 400)
of_qr_code(
    "qr-no-authentication",
    [is_get, is_public_profile, has_no_parameters, accepts_anything],
    expect_status,
    200,
)
of_qr_code(
    "qr-version-values",
    [*_OF_ONE, version_exists, document_allows],
    expect_status,
    200,
)
of_qr_code(
    "qr-version-values",
    [is_get, has_one_parameter, version_does_not_exist, document_allows_no_such],
    expect_refused,
    is_choice=True,
)
of_qr_code(
    "qr-type-values",
    [*_OF_ONE, icon_has_stated_name, document_allows],
    expect_status,
    200,
)
# A choice, since each deployment names its logo itself.
of_qr_code("qr-type-values", [*_OF_ONE, icon_exists], expect_status, 200, is_choice=True)
of_qr_code(
    "qr-type-values",
    [is_get, has_one_parameter, icon_does_not_exist, document_allows_no_such],
    expect_refused,
    is_choice=True,
)
