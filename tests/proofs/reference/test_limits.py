"""Requests an hour: told in headers, counted for each caller, ended by 429."""

from datetime import timedelta

import httpx
import pytest
from tests import patient
from tests.proofs.reference.people import ISOLDE
from tests.proofs.reference.service import Options
from tests.proofs.reference.serving import served

LOOKUP = f"/profiles/{ISOLDE.slug}"
START = 1777888800


def told(answer: httpx.Response) -> tuple[int, ...]:
    names = ("Limit", "Remaining", "Reset")
    return tuple(int(answer.headers[f"X-RateLimit-{name}"]) for name in names)


def test_headers_count_down(nobody, isolde):
    assert told(nobody.get(LOOKUP)) == (100, 99, START + 3600)
    assert told(nobody.get("/profiles/nobody-at-all")) == (100, 98, START + 3600)
    assert told(isolde.get(LOOKUP)) == (1000, 999, START + 3600)


def test_the_hundred_and_first_request_of_an_hour_is_refused(nobody, isolde, clock):
    assert {nobody.get(LOOKUP).status_code for _ in range(100)} == {200}
    clock.move(timedelta(minutes=59))
    refused = nobody.get(LOOKUP)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    assert isinstance(refused.json()["error"], str)
    assert nobody.get(f"/qr-code/{ISOLDE.slug}").status_code == 429
    assert isolde.get(LOOKUP).status_code == 200
    clock.move(timedelta(minutes=1))
    assert told(nobody.get(LOOKUP))[:2] == (100, 99)


def test_each_token_has_its_own_allowance(clock):
    with served(options=Options(token_limit=2), clock=clock) as addresses:
        answers = [
            patient.get(addresses.base_url + LOOKUP, headers={"Authorization": f"Bearer {token}"})
            for token in ("isolde-full", "isolde-full", "isolde-full", "beacon-api-key")
        ]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 200]


def test_avatar_requests_do_not_count(isolde):
    assert "x-ratelimit-limit" not in isolde.get("/me/avatars").headers
    assert told(isolde.get("/me/profile"))[1] == 999


@pytest.mark.parametrize("path", ["/openapi", "/nowhere"])
def test_other_requests_do_not_count(nobody, path):
    nobody.get(path)
    assert told(nobody.get(LOOKUP))[1] == 99


def test_an_unknown_token_counts_for_the_address_it_comes_from(client, nobody):
    assert client("wrong").get(LOOKUP).status_code == 401
    assert told(nobody.get(LOOKUP))[1] == 98
