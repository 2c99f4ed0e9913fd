"""The quota through the whole stack."""

from datetime import timedelta

import pytest

PATH = "/v1/shelf"


def statuses(service, times: int, **request) -> list[int]:
    return [service.get(PATH, **request).status_code for _ in range(times)]


def bearing(token: str) -> dict[str, dict[str, str]]:
    return {"headers": {"Authorization": f"Bearer {token}"}}


def test_beyond_the_quota_it_is_429_with_the_headers(serve) -> None:
    service = serve()
    assert statuses(service, 4) == [200, 200, 200, 429]
    response = service.get(PATH)
    assert response.json() == {"error": "Rate limit exceeded", "code": "rate_limit_exceeded"}
    assert response.headers["x-ratelimit-limit"] == "3"
    assert response.headers["x-ratelimit-remaining"] == "0"


def test_every_answer_of_a_limited_operation_says_what_is_left(serve) -> None:
    service = serve()
    left = [service.get(PATH).headers["x-ratelimit-remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    refused = service.get(PATH, headers={"Accept": "image/png"})
    assert "x-ratelimit-reset" in refused.headers


def test_the_quota_is_whole_again_an_hour_after_the_first_request(serve) -> None:
    service = serve()
    statuses(service, 4)
    reset = int(service.get(PATH).headers["x-ratelimit-reset"])
    service.time.advance(timedelta(hours=1))
    assert reset == service.time.now.timestamp()
    assert statuses(service, 1) == [200]


def test_principals_are_counted_apart_and_have_a_quota_of_their_own(serve) -> None:
    service = serve()
    assert statuses(service, 4)[-1] == 429
    assert statuses(service, 5, **bearing("ada-token")) == [200, 200, 200, 200, 429]
    assert statuses(service, 1, **bearing("ben-token")) == [200]


def test_a_persons_tokens_share_one_quota(serve) -> None:
    service = serve()
    statuses(service, 4, **bearing("ada-token"))
    assert statuses(service, 1, **bearing("ada-key")) == [429]


@pytest.mark.parametrize("path", ["/v1/notes", "/v1/shelf/own", "/v1/nothing"])
def test_other_operations_count_for_nothing(serve, path: str) -> None:
    service = serve()
    assert "x-ratelimit-limit" not in service.get(path).headers
    assert service.world.windows == {}


def test_a_request_that_is_refused_before_it_is_counted_uses_nothing(serve) -> None:
    service = serve()
    service.get(PATH, **bearing("unknown"))
    service.ask("PUT", PATH)
    assert service.world.windows == {}


def test_the_quota_can_be_switched_off(serve) -> None:
    service = serve(choices={"rate-limits": "off"})
    assert statuses(service, 5) == [200] * 5


def test_the_journal_says_how_to_lift_it(serve) -> None:
    service = serve()
    statuses(service, 4)
    assert "--choose rate-limits=off" in service.recorded[-1].notes[0]
