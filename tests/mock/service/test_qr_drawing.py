"""A code is drawn at the exact size, and an independent decoder reads it."""

from io import BytesIO

import pytest
import zxingcpp
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from understudy.mock.service.qr_drawing import draw

TEXT = "http://127.0.0.1:8080/ada"


def read(content: bytes) -> str | None:
    found = zxingcpp.read_barcodes(Image.open(BytesIO(content)))
    return found[0].text if found else None


@pytest.mark.parametrize("icon", ["none", "user", "service"])
@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize("size", [80, 99, 100, 240, 801, 2000])
def test_a_code_has_its_size_and_is_read(size: int, version: int, icon) -> None:
    content = draw(TEXT, size=size, version=version, icon=icon)
    with Image.open(BytesIO(content)) as found:
        assert (found.size, found.format) == ((size, size), "PNG")
    assert read(content) == TEXT


@given(
    text=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=60),
    size=st.integers(160, 400),
)
@settings(max_examples=30)
def test_any_address_is_read_back(text: str, size: int) -> None:
    url = f"http://127.0.0.1:8080/{text}?utm_source={text}"
    assert read(draw(url, size=size, version=1, icon="none")) == url


def test_a_size_that_is_too_small_for_the_modules_is_kept_all_the_same() -> None:
    with Image.open(BytesIO(draw(TEXT, size=7, version=1, icon="none"))) as found:
        assert found.size == (7, 7)


@pytest.mark.parametrize("size", [40, 80, 240])
def test_versions_and_icons_differ(size: int) -> None:
    drawn = {
        draw(TEXT, size=size, version=version, icon=icon)
        for version in (1, 3)
        for icon in ("none", "user", "service")
    }
    assert len(drawn) == 6
