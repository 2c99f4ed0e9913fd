"""A server behind the proxy: the same answers, at another address, later and smaller."""

import ssl

import httpx
import pytest
from tests import patient
from tests.proofs.reference.people import ISOLDE
from tests.proofs.reference.proxy import LATENCY, proxied

LOOKUP = f"/v3/profiles/{ISOLDE.slug}"


@pytest.fixture
def outside(addresses):
    """A client of the reference behind everything at once."""
    with proxied(addresses.site) as found:
        trusted = ssl.create_default_context(cafile=str(found.authority))
        with httpx.Client(
            base_url=found.address, verify=trusted, timeout=patient.PATIENCE
        ) as client:
            yield client


def test_behind_everything_an_answer_is_the_same(outside, nobody):
    answer = outside.get(LOOKUP)
    assert str(answer.url).startswith("https://")
    assert answer.url.path.startswith("/staging/v3/")
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.elapsed >= LATENCY
    assert answer.json() == nobody.get(f"/profiles/{ISOLDE.slug}").json()


def test_the_certificate_is_of_an_unknown_authority(addresses):
    with proxied(addresses.site) as found, pytest.raises(httpx.ConnectError, match="CERTIFICATE"):
        patient.get(f"{found.address}{LOOKUP}")


def test_without_the_prefix_there_is_nothing(outside):
    assert outside.get(outside.base_url.copy_with(path=LOOKUP)).status_code == 404
