"""Pictures of QR codes, as verify reads them."""

import struct
from zlib import crc32

import pytest
from PIL import Image

from understudy.mock.service.qr_drawing import draw
from understudy.verify.pictures import decoded

TEXT = "http://127.0.0.1:8080/ada"


def test_a_run_is_never_stopped_inside_the_decoder_which_would_call_it_a_bad_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(_image: Image.Image) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(Image.Image, "__array_interface__", property(stop))
    content = draw(TEXT, size=241, version=1, icon="none")
    assert decoded(content).text == TEXT


def test_a_picture_of_too_many_pixels_to_decode_is_none() -> None:
    head = struct.pack(">IIBBBBB", 20_000, 20_000, 1, 0, 0, 0, 0)
    chunk = b"IHDR" + head
    bomb = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", crc32(chunk))
    assert decoded(bomb).size is None


@pytest.mark.parametrize("size", [80, 300])
def test_a_code_of_pure_black_and_white_is_one_bit_a_pixel_deep(size: int) -> None:
    content = draw(TEXT, size=size, version=1, icon="none")
    assert content[24] == 1  # the bit depth in the header of a PNG
    assert decoded(content).text == TEXT
