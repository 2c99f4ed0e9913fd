"""Judges how QR codes look: squares or dots, the icon in the centre (interface, Public operations)."""

from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import QR_CODE
from understudy.verify.checks import (
    CheckResult,
    check,
    document_allows,
    document_allows_no_such,
    expect,
    expect_refused,
    expect_status,
    is_get,
    proven,
)
from understudy.verify.history import History
from understudy.verify.pictures import (
    draw,
    fitting,
    has_one_parameter,
    is_drawn,
    is_readable,
    picture_of,
    with_other,
)
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.qr_codes import LARGE

SQUARES, DOTS = "1", "3"  # interface: version 1 is standard, version 3 has modern dots
STATED_ICONS: Final = ("none", "user")
"""The icons whose words the interface gives; the word for the service's logo is the document's."""

SHARE_OF_DOTS: Final = (0.5, 0.95)
"""The share of the squares' dark pixels that dots leave dark: a circle in a square is 0.79."""


def in_other_version(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the same code in the other version."""
    other = {SQUARES: DOTS, DOTS: SQUARES}.get(exchange.request.query.get("version", ""))
    return with_other(exchange, history, "version", other)


def is_drawn_in_both_versions(exchange: Exchange, history: History) -> bool:
    """Tells whether the same code was drawn in both versions."""
    before = in_other_version(exchange, history)
    if before is None or not is_drawn(before, history):
        return False
    return bool(picture_of(before).dark and picture_of(exchange).dark)


def with_other_icons(exchange: Exchange, history: History) -> list[Exchange]:
    """Returns the same code with every other requested icon."""
    icon = exchange.request.query.get("type")
    if icon is None:
        return []
    others = (
        with_other(exchange, history, "type", other)
        for other in history.inputs.qr_types
        if other != icon
    )
    return [other for other in others if other is not None]


def is_drawn_with_other_icon(exchange: Exchange, history: History) -> bool:
    """Tells whether the same code was requested with another icon."""
    return bool(with_other_icons(exchange, history))


def version_exists(exchange: Exchange, _history: History) -> bool:
    """Tells whether the version is 1 or 3."""
    return exchange.request.query.get("version") in {SQUARES, DOTS}


def version_does_not_exist(exchange: Exchange, _history: History) -> bool:
    """Tells whether the version is a number that does not exist."""
    version = exchange.request.query.get("version", "")
    is_number = version.isascii() and version.isdecimal()
    return is_number and version not in {SQUARES, DOTS}


def icon_exists(exchange: Exchange, history: History) -> bool:
    """Tells whether the type is one of those that the document declares."""
    return exchange.request.query.get("type") in history.inputs.qr_types


def icon_has_stated_name(exchange: Exchange, _history: History) -> bool:
    """Tells whether the type is one whose word the interface gives."""
    return exchange.request.query.get("type") in STATED_ICONS


def icon_does_not_exist(exchange: Exchange, history: History) -> bool:
    """Tells whether the type is a word that does not exist."""
    icon = exchange.request.query.get("type", "")
    return icon.isascii() and icon.isalpha() and icon not in history.inputs.qr_types


@check("qr-versions", on=[QR_CODE], when=[is_readable, is_drawn_in_both_versions])
def versions_differ_in_darkness(exchange: Exchange, history: History) -> CheckResult:
    """Version 3 has dots, which are less dark than the squares of version 1."""
    before = proven(in_other_version(exchange, history))
    one, other = picture_of(exchange).dark, picture_of(before).dark
    dots, squares = (one, other) if exchange.request.query["version"] == DOTS else (other, one)
    least, most = SHARE_OF_DOTS
    actual = f"version 3 is {dots / squares:.2f} as dark as version 1"
    return expect(least < dots / squares < most, "dots in version 3, squares in 1", actual, before)


@check(
    "qr-version-values",
    on=[QR_CODE],
    when=[is_get, has_one_parameter, version_exists, document_allows],
)
def known_version_is_drawn(exchange: Exchange, _history: History) -> CheckResult:
    """Versions 1 and 3 are drawn."""
    return expect_status(exchange, 200)


@check(
    "qr-version-values",
    on=[QR_CODE],
    when=[is_get, has_one_parameter, version_does_not_exist, document_allows_no_such],
    is_choice=True,
)
def unknown_version_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A version that does not exist is refused."""
    return expect_refused(exchange)


@check("qr-centre-icon", on=[QR_CODE], when=[is_readable, is_drawn_with_other_icon])
def icons_differ(exchange: Exchange, history: History) -> CheckResult:
    """Each icon, and none, shows another centre."""
    others = with_other_icons(exchange, history)
    centre = picture_of(exchange).centre
    alike = [
        other for other in others if is_drawn(other, history) and picture_of(other).centre == centre
    ]
    return expect(not alike, "another centre", "the same centre", *others)


@check(
    "qr-type-values",
    on=[QR_CODE],
    when=[is_get, has_one_parameter, icon_has_stated_name, document_allows],
)
def stated_icon_is_drawn(exchange: Exchange, _history: History) -> CheckResult:
    """The types user and none are drawn."""
    return expect_status(exchange, 200)


@check(
    "qr-type-values",
    on=[QR_CODE],
    when=[is_get, has_one_parameter, icon_exists],
    is_choice=True,
)
def every_icon_is_drawn(exchange: Exchange, _history: History) -> CheckResult:
    """The type of the service's own logo is drawn; its word is the deployment's to give."""
    return expect_status(exchange, 200)


@check(
    "qr-type-values",
    on=[QR_CODE],
    when=[is_get, has_one_parameter, icon_does_not_exist, document_allows_no_such],
    is_choice=True,
)
def unknown_icon_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A type that does not exist is refused."""
    return expect_refused(exchange)


@probe(
    *("qr-points-to-profile", "qr-size-exact", "qr-utm-parameters"),
    *("qr-versions", "qr-centre-icon"),
    needs=("slug",),
)
def codes_of_every_appearance(client: ProbeClient) -> Parts:
    """Draws the same code in squares and in dots, and with each icon."""
    client.recall(f"/profiles/{client.known.slug}", is_lasting=True)
    size, logo = fitting(client, LARGE), _logo(client)
    for version, icon in (("1", "none"), ("3", "none"), ("1", "user"), ("1", logo), ("3", "user")):
        yield draw(client, size=size, version=version, type=icon, utm_campaign="autumn")


@probe("qr-version-values", "qr-type-values", needs=("slug",))
def values_that_do_not_exist(client: ProbeClient) -> Parts:
    """Asks for a version and a type that do not exist, and for some that do."""
    yield draw(client, version="2")
    yield draw(client, type="sparkles")
    yield draw(client, version="3")
    yield draw(client, type=_logo(client))
    yield draw(client, type="user")


def _logo(client: ProbeClient) -> str:
    """Returns the word for the service's own logo in the document in force."""
    others = (icon for icon in client.inputs.qr_types if icon not in STATED_ICONS)
    return next(others, "user")
