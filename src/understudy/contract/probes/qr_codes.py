"""Probes of QR codes: every parameter once, and beside what it changes."""

from understudy.contract.history import MADE_UP
from understudy.contract.probing import probe
from understudy.contract.visit import Visit

LARGE = "320"
"""Pixels at which every code can be read."""


def _draw(visit: Visit, **query: str) -> None:
    visit.get(f"/qr-code/{visit.known.slug}", query=query)


@probe("qr-png", "qr-default-size", "qr-no-authentication", needs=("slug",), cost=2)
def a_plain_code(visit: Visit) -> None:
    """Asks for a code without any parameter, and with a token that does not count."""
    _draw(visit)
    visit.get(f"/qr-code/{visit.known.slug}", "wrong")


@probe("qr-size-exact", "qr-points-to-profile", "qr-versions", needs=("slug",), cost=4)
def both_versions(visit: Visit) -> None:
    """Draws the same code in squares and in dots."""
    visit.get(f"/profiles/{visit.known.slug}")
    _draw(visit, size=LARGE, version="1", type="none")
    _draw(visit, size=LARGE, version="3", type="none")
    _draw(visit, size="137")


@probe("qr-points-to-profile", needs=("hashes",), cost=2)
def a_code_by_hash(visit: Visit) -> None:
    """Draws a code by the hash of an address."""
    visit.get(f"/profiles/{visit.known.own_hashes[0]}")
    visit.get(f"/qr-code/{visit.known.own_hashes[0]}", query={"size": LARGE})


@probe("qr-centre-icon", needs=("slug",), cost=3)
def every_icon(visit: Visit) -> None:
    """Draws the same code with each kind of icon."""
    for kind in ("none", "user", "service"):
        _draw(visit, size=LARGE, type=kind)


@probe("qr-utm-parameters", needs=("slug",), cost=2)
def a_campaign(visit: Visit) -> None:
    """Draws codes that carry a campaign."""
    _draw(visit, size="480", utm_medium="print & web", utm_campaign="spring fair")
    _draw(visit, size="480", utm_campaign="autumn")


@probe("qr-version-values", "qr-type-values", needs=("slug",), cost=4)
def values_that_there_are_not(visit: Visit) -> None:
    """Asks for a version and a type that do not exist, and for one of each that does."""
    _draw(visit, version="2")
    _draw(visit, type="sparkles")
    _draw(visit, version="3")
    _draw(visit, type="service")


@probe("qr-size-bounds", needs=("slug",), cost=4)
def sizes_at_the_bounds(visit: Visit) -> None:
    """Asks for the smallest and the largest size, and for one less and one more."""
    for size in ("0", "1", "2048", "2049"):
        _draw(visit, size=size)


@probe("qr-unknown-hash")
def a_code_of_nobody(visit: Visit) -> None:
    """Draws a code for an identifier that nobody has."""
    visit.get(f"/qr-code/{MADE_UP}-slug")
