"""Numbers that the interface leaves open are those of the switches."""

import pytest
from tests.mock.service.test_image_processing import picture

PNG = picture()


def chosen(switch: str, number: int) -> dict[str, str]:
    return {"X-Mock-Choose": f"{switch}={number}"}


@pytest.mark.parametrize(("size", "status"), [(512, 200), (513, 400)])
def test_a_code_is_drawn_up_to_the_largest_size(ask, size, status):
    path = f"/v3/qr-code/ada?size={size}"
    assert ask("GET", path, headers=chosen("qr-largest-size", 512)).status_code == status


@pytest.mark.parametrize(("size", "status"), [(100_000, 200), (100_001, 413)])
def test_an_upload_is_taken_up_to_the_largest_file(ask, size, status):
    files = {"data": ("padded.png", PNG + bytes(size - len(PNG)), "image/png")}
    headers = chosen("upload-largest", 100_000)
    answer = ask("POST", "/v3/me/avatars", "ada-full", files=files, headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize("number", ["511", "2049", "0600", "many", "512.0", "+600", ""])
def test_a_number_that_the_switch_does_not_take_is_refused_with_its_range(ask, number):
    headers = {"X-Mock-Choose": f"qr-largest-size={number}"}
    refusal = ask("GET", "/v3/qr-code/ada", headers=headers)
    assert refusal.status_code == 400
    assert "a number from 512 to 2048 (pixels that a QR code may be wide)" in refusal.text
