"""The admin API lets in this machine's user and nobody who only reaches the port."""

from collections.abc import AsyncIterator

import pytest
from tests.mock.admin.conftest import Driver

from understudy.mock.settings import Settings

STRANGER = ("192.0.2.7", 4711)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example:8080"},
        {"Origin": "http://attacker.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ],
)
def test_a_page_of_another_origin_is_refused(driver: Driver, headers) -> None:
    status, _ = driver.refused("POST", "/reset", headers=headers)
    assert status == 403


def test_a_world_of_ones_own_is_guarded_alike(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "w"})
    answer = driver.ask("POST", "/__world/w/__admin/reset", headers={"Origin": "http://a.example"})
    assert answer.status_code == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_that_a_page_may_send_unasked_is_refused(driver: Driver, kind) -> None:
    headers = {"Content-Type": kind}
    answer = driver.ask("PUT", "/__admin/clock", content=b'{"frozen": true}', headers=headers)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["detail"]
    assert driver.admin("GET", "/clock")["frozen"] is False


def test_a_body_of_chunks_needs_its_type_too(driver: Driver) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b'{"name": "owned"}'

    assert driver.ask("POST", "/__admin/worlds", content=chunks()).status_code == 415
    assert [world["name"] for world in driver.admin("GET", "/worlds")] == ["default"]


def test_no_header_lets_a_page_read_the_admin_api(driver: Driver) -> None:
    answer = driver.get("/__admin/worlds", headers={"Origin": "http://127.0.0.1:8080"})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_another_machine_is_refused_without_the_token_and_let_in_with_it(time) -> None:
    driver = Driver(Settings(admin_token="hush-hush"), time)
    status, detail = driver.refused("GET", "/worlds", client=STRANGER)
    assert (status, "Authorization: Bearer" in detail) == (403, True)
    assert driver.refused("GET", "/worlds", client=STRANGER, token="guessed")[0] == 403
    headers = {"Host": "mock.internal:8080"}
    assert driver.admin("GET", "/worlds", client=STRANGER, token="hush-hush", headers=headers)
    driver.close()


def test_without_a_token_the_remedy_is_named(driver: Driver) -> None:
    status, detail = driver.refused("GET", "/worlds", client=STRANGER)
    assert (status, "--admin-token" in detail) == (403, True)


@pytest.mark.parametrize("token", ["é", "hush-é", "\xff"])
def test_a_token_that_is_not_ascii_is_compared_and_not_stumbled_over(time, token) -> None:
    driver = Driver(Settings(admin_token="hush-é"), time)
    headers = {"Authorization": b"Bearer " + token.encode()}
    answer = driver.get("/__admin/worlds", client=STRANGER, headers=headers)
    assert answer.status_code == (200 if token == "hush-é" else 403)
    driver.close()


def test_an_origin_that_cannot_be_read_is_another_origin(driver: Driver) -> None:
    assert driver.refused("POST", "/reset", headers={"Origin": "http://["})[0] == 403
