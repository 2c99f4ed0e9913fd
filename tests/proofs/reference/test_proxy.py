"""A server behind the proxy: the same answers, at another address, later and smaller."""

import ssl
from datetime import timedelta

import httpx
import pytest
from tests import patient
from tests.proofs.reference.broken import circling, down
from tests.proofs.reference.people import ISOLDE, picture
from tests.proofs.reference.proxy import Disguise, proxied

PLAIN = Disguise(prefix="", latency=timedelta(), has_tls=False, has_gzip=False)
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
    assert answer.elapsed >= timedelta(milliseconds=80)
    assert answer.json() == nobody.get(f"/profiles/{ISOLDE.slug}").json()


def test_requests_pass_with_headers_query_and_body(outside):
    token = {"Authorization": "Bearer isolde-full"}
    query = {"select_avatar": "true", "selected_email_hash": ISOLDE.hashes[1]}
    files = {"data": ("any name", picture("P", "plum"))}
    answer = outside.post("/v3/me/avatars", headers=token, params=query, files=files)
    assert (answer.status_code, answer.json()["selected"]) == (201, True)
    removed = outside.delete(f"/v3/me/avatars/{answer.json()['image_id']}", headers=token)
    assert (removed.status_code, removed.content) == (204, b"")


def test_pictures_and_heads_pass_unharmed(outside):
    path = f"/v3/qr-code/{ISOLDE.slug}"
    drawn, head = outside.get(path), outside.head(path)
    assert drawn.content.startswith(b"\x89PNG")
    assert head.headers["content-length"] == str(len(drawn.content))


def test_the_certificate_is_of_an_unknown_authority(addresses):
    with proxied(addresses.site) as found, pytest.raises(httpx.ConnectError, match="CERTIFICATE"):
        patient.get(f"{found.address}{LOOKUP}")


def test_without_the_prefix_there_is_nothing(outside):
    assert outside.get(outside.base_url.copy_with(path=LOOKUP)).status_code == 404


def test_plain_it_adds_nothing(addresses):
    with proxied(addresses.site, PLAIN) as found:
        answer = patient.get(f"{found.address}{LOOKUP}")
    assert "content-encoding" not in answer.headers
    assert found.authority is None


def test_a_redirect_stays_behind_the_prefix():
    disguise = Disguise(has_tls=False, latency=timedelta())
    with circling() as addresses, proxied(addresses.site, disguise) as found:
        answer = patient.get(f"{found.address}/v3/me/profile")
    assert (answer.status_code, answer.headers["location"]) == (302, "/staging/v3/back")


def test_an_upstream_that_is_down_is_a_bad_gateway():
    with down() as addresses, proxied(addresses.site, PLAIN) as found:
        assert patient.get(f"{found.address}{LOOKUP}").status_code == 502
