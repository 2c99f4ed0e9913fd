"""Probes of QR codes: every parameter once, and beside what it changes."""

from understudy.deployments.exchange import Exchange
from understudy.verify.history import MADE_UP
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, part, probe

LARGE = "320"
"""Pixels at which every code can be read."""


def _draw(client: ProbeClient, **query: str) -> Exchange:
    return client.get(f"/qr-code/{client.known.slug}", query=query)


@probe(
    *("qr-png", "qr-default-size", "qr-no-authentication"),
    needs=("slug",),
    then=[part("qr-no-authentication", by="wrong")],
)
def a_plain_code(client: ProbeClient) -> Parts:
    """Asks for a code without any parameter, and with a token that does not count."""
    yield client.get(f"/qr-code/{client.known.slug}")
    yield client.get(f"/qr-code/{client.known.slug}", "wrong")


@probe(
    *("qr-points-to-profile", "qr-size-exact", "qr-utm-parameters"),
    needs=("slug",),
    then=[part("qr-versions"), part("qr-centre-icon"), part("qr-centre-icon")],
)
def every_look_of_a_code(client: ProbeClient) -> Parts:
    """Draws the same code in squares and in dots, and with each kind of icon."""
    client.recall(f"/profiles/{client.known.slug}", is_lasting=True)
    for version, kind in (("1", "none"), ("3", "none"), ("1", "user"), ("1", "service")):
        yield _draw(client, size=LARGE, version=version, type=kind, utm_campaign="autumn")


@probe("qr-points-to-profile", needs=("hashes",))
def a_code_by_hash(client: ProbeClient) -> None:
    """Draws a code by the hash of an address."""
    client.recall(f"/profiles/{client.known.own_hashes[0]}", is_lasting=True)
    client.get(f"/qr-code/{client.known.own_hashes[0]}", query={"size": LARGE})


@probe("qr-utm-parameters", needs=("slug",))
def a_campaign(client: ProbeClient) -> None:
    """Draws a code that carries a campaign and a medium."""
    _draw(client, size="480", utm_medium="print & web", utm_campaign="spring fair")


@probe(
    "qr-version-values",
    needs=("slug",),
    then=[part("qr-type-values"), part("qr-version-values"), part("qr-type-values")],
)
def values_that_there_are_not(client: ProbeClient) -> Parts:
    """Asks for a version and a type that do not exist, and for one of each that does."""
    yield _draw(client, version="2")
    yield _draw(client, type="sparkles")
    yield _draw(client, version="3")
    yield _draw(client, type="service")


@probe(
    *("qr-size-bounds", "error-shape"),
    needs=("slug",),
    then=[*3 * [part("qr-size-bounds")], part("qr-size-exact")],
)
def sizes_at_the_bounds(client: ProbeClient) -> Parts:
    """Asks for one more than the largest size, the smallest, the largest, none, and an odd one."""
    for size in ("2049", "1", "2048", "0", "137"):
        yield _draw(client, size=size)


@probe("qr-unknown-hash")
def a_code_of_nobody(client: ProbeClient) -> None:
    """Draws a code for an identifier that nobody has."""
    client.get(f"/qr-code/{MADE_UP}-slug")
