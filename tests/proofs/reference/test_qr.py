"""QR codes: a PNG of exactly the size asked for, which leads to the profile."""

from io import BytesIO

import pytest
import zxingcpp
from PIL import Image
from tests.proofs.reference.people import ISOLDE


def scanned(answer) -> tuple[tuple[int, int], str]:
    assert answer.headers["content-type"] == "image/png"
    image = Image.open(BytesIO(answer.content), formats=["PNG"])
    found = zxingcpp.read_barcodes(image)
    return image.size, found[0].text


@pytest.mark.parametrize("identifier", [ISOLDE.slug, ISOLDE.hashes[1]])
def test_a_code_leads_to_the_profile_at_80_pixels(nobody, identifier):
    url = nobody.get(f"/profiles/{identifier}").json()["profile_url"]
    assert scanned(nobody.get(f"/qr-code/{identifier}")) == ((80, 80), url)


@pytest.mark.parametrize("kind", ["user", "service", "none"])
@pytest.mark.parametrize("version", ["1", "3"])
@pytest.mark.parametrize("size", ["80", "81", "240", "1000"])
def test_every_kind_is_exact_and_can_be_read(nobody, size, version, kind):
    query = {"size": size, "version": version, "type": kind}
    answer = nobody.get(f"/qr-code/{ISOLDE.slug}", params=query)
    assert scanned(answer)[0] == (int(size), int(size))


def test_versions_and_icons_differ(nobody):
    pictures = {
        nobody.get(f"/qr-code/{ISOLDE.slug}", params={"version": v, "type": t}).content
        for v in ("1", "3")
        for t in ("user", "service", "none")
    }
    assert len(pictures) == 6


def test_campaign_words_are_in_the_address(nobody):
    query = {"utm_medium": "a poster", "utm_campaign": "spring&co"}
    _, url = scanned(nobody.get(f"/qr-code/{ISOLDE.slug}", params={**query, "size": "200"}))
    assert url.endswith("?utm_medium=a+poster&utm_campaign=spring%26co")


def test_a_code_is_drawn_for_somebody_unknown(nobody, addresses):
    answer = nobody.get("/qr-code/some%20body?size=200&type=user")
    assert scanned(answer)[1] == f"{addresses.site}/some%20body"


@pytest.mark.parametrize(
    "query",
    [
        {"size": "0"},
        {"size": "2001"},
        {"size": "-80"},
        {"size": "8e1"},
        {"size": "9" * 5000},
        {"version": "2"},
        {"type": "logo"},
        {"utm_medium": "x" * 4000},
    ],
)
def test_what_cannot_be_drawn_is_refused(nobody, query):
    answer = nobody.get(f"/qr-code/{ISOLDE.slug}", params=query)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
