"""Numbers that the interface leaves open are those of the switches."""

from pathlib import Path

import pytest
from tests.mock.service.test_image_processing import picture

from understudy.interface.rules import load_rules, switches
from understudy.mock.service.own_profile import ALWAYS_ALLOWED, EDITABLE
from understudy.verify.pictures import plain_picture

PNG = picture()
RULES = Path(__file__).parents[3] / "openapi" / "rules.yaml"


def chosen(switch: str, number: int) -> dict[str, str]:
    return {"X-Mock-Choose": f"{switch}={number}"}


@pytest.mark.parametrize(("size", "status"), [(512, 200), (513, 400)])
def test_a_code_is_drawn_up_to_the_largest_size(ask, size, status):
    path = f"/v3/qr-code/ada?size={size}"
    assert ask("GET", path, headers=chosen("qr-largest-size", 512)).status_code == status


@pytest.mark.parametrize(("size", "status"), [(20, 200), (19, 400)])
def test_a_code_is_drawn_from_the_smallest_size_on(ask, size, status):
    path = f"/v3/qr-code/ada?size={size}"
    assert ask("GET", path, headers=chosen("qr-smallest-size", 20)).status_code == status


@pytest.mark.parametrize(("side", "status"), [(600, 200), (601, 400)])
def test_an_upload_is_taken_up_to_the_widest_picture_even_where_it_was_taken_before(
    ask, side, status
):
    files = {"data": ("wide.png", plain_picture(side), "image/png")}
    for limit, expected in ((1000, 200), (600, status)):
        headers = chosen("upload-largest-side", limit)
        answer = ask("POST", "/v3/me/avatars", "ada-full", files=files, headers=headers)
        assert answer.status_code == expected


def test_an_account_that_is_full_takes_an_avatar_once_another_is_deleted(ask):
    path, headers = "/v3/me/avatars", chosen("most-avatars", 50)

    def upload():
        files = {"data": ("square.png", PNG, "image/png")}
        return ask("POST", path, "ada-full", files=files, headers=headers)

    count = len(ask("GET", path, "ada-full").json())
    taken = [upload() for _ in range(50 - count)]
    refused = upload()
    assert {each.status_code for each in taken} == {200}
    assert (refused.status_code, refused.json()["code"]) == (400, "too_many_avatars")
    ask("DELETE", f"{path}/{taken[0].json()['image_id']}", "ada-full")
    assert upload().status_code == 200


@pytest.mark.parametrize("member", EDITABLE)
def test_a_text_of_the_profile_is_taken_up_to_its_longest_and_a_longer_one_changes_nothing(
    ask, member
):
    headers = chosen(f"{member.replace('_', '-')}-longest", 100)
    path = "/v3/me/profile"
    taken = ask("PATCH", path, "ada-full", json={member: "u" * 100}, headers=headers)
    refused = ask("PATCH", path, "ada-full", json={member: "v" * 101}, headers=headers)
    assert (taken.status_code, refused.status_code) == (200, 400)
    assert f"{member}: the text has 101 characters; at most 100 are allowed" in refused.text
    assert ask("GET", path, "ada-full").json()[member] == "u" * 100


def test_no_switch_takes_a_smaller_number_than_a_text_may_always_have():
    ranges = {it.name: it.range for it in switches(load_rules(RULES)).values() if it.range}
    least = [ranges[f"{member.replace('_', '-')}-longest"].least for member in EDITABLE]
    assert min(least) == ALWAYS_ALLOWED


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
