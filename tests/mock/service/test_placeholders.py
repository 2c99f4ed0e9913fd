"""Placeholders of missing pictures."""

from io import BytesIO

import pytest
from PIL import Image as Pixels

from understudy.mock.service.image_processing import PLACEHOLDERS, Subject, placeholder

VARYING = ("color", "initials", "identicon", "retro", "monsterid", "wavatar", "robohash")
ADA, BEN = Subject("ada", "AM"), Subject("ben", "B")


@pytest.mark.parametrize("kind", PLACEHOLDERS)
def test_a_placeholder_is_a_png_of_the_requested_size(kind) -> None:
    with Pixels.open(BytesIO(placeholder(kind, 77, ADA).content)) as found:
        assert (found.size, found.format) == ((77, 77), "PNG")


@pytest.mark.parametrize("kind", VARYING)
def test_a_varying_placeholder_is_derived_from_the_identifier(kind) -> None:
    placeholder.cache_clear()
    first = placeholder(kind, 80, ADA)
    placeholder.cache_clear()
    assert placeholder(kind, 80, ADA) == first
    assert placeholder(kind, 80, BEN) != first


def test_the_varying_placeholders_differ_from_one_another() -> None:
    assert len({placeholder(kind, 80, ADA) for kind in VARYING}) == len(VARYING)
