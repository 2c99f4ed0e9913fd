"""Pictures as an ``<img>`` asks for them: nothing in the query makes one fail."""

from io import BytesIO

import pytest
from PIL import Image as Pixels
from tests.mock.service.test_oracle import ADA_AVATAR, ADA_HASH


@pytest.mark.parametrize(
    ("query", "size"),
    [
        ("s=40", 40),
        ("size=40", 40),
        ("s=0", 1),
        ("s=99999", 2048),
        ("s=-1", 80),
        ("s=" + "9" * 400, 80),
        ("s=large", 80),
        ("r=PG", 80),
        ("r=strict", 80),
        ("d=never-heard-of", 80),
        ("d=%00", 80),
        ("d=%ff&s=60", 60),
        ("s=60&s=50", 60),
        ("%ff=1", 80),
    ],
)
@pytest.mark.parametrize("identifier", [ADA_HASH, "0" * 64])
def test_no_query_makes_a_picture_fail(ask, identifier, query, size):
    response = ask("GET", f"/avatar/{identifier}?{query}")
    assert response.status_code == 200
    with Pixels.open(BytesIO(response.content)) as picture:
        assert picture.size == (size, size)


@pytest.mark.parametrize("query", ["f=y", "forcedefault=Y"])
def test_the_placeholder_can_be_forced(ask, query):
    shown = ask("GET", f"/avatar/{ADA_HASH}?d=retro&{query}").content
    assert shown == ask("GET", f"/avatar/{ADA_HASH.upper()}?d=retro&{query}").content
    assert shown != ask("GET", f"/avatar/{ADA_HASH}").content


@pytest.mark.parametrize(
    ("extension", "media_type"),
    [("jpg", "image/jpeg"), ("png", "image/png"), ("gif", "image/gif"), ("JPEG", "image/jpeg")],
)
@pytest.mark.parametrize("identifier", [ADA_HASH, ADA_AVATAR, "0" * 64])
def test_the_extension_selects_the_type(ask, identifier, extension, media_type):
    response = ask("GET", f"/avatar/{identifier}.{extension}?s=20")
    assert response.headers["content-type"] == media_type
    with Pixels.open(BytesIO(response.content)) as picture:
        assert Pixels.MIME[picture.format or ""] == media_type


@pytest.mark.parametrize("path", [f"/avatar/{ADA_HASH}", "/icons/tidebook.svg", "/avatar/x?d=mp"])
def test_a_picture_opened_as_a_page_runs_nothing(ask, path):
    headers = ask("GET", path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"].startswith("sandbox, default-src 'none'")


@pytest.mark.parametrize("accept", ["image/avif,image/webp", "text/html", "image/svg+xml"])
def test_a_picture_is_shown_whatever_the_browser_prefers(ask, accept):
    picture = ask("GET", f"/avatar/{ADA_HASH}", headers={"Accept": accept})
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
