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
    assert response.json()["code"] == "rate_limit_exceeded"
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


@pytest.mark.parametrize(
    ("request_", "principal"), [({}, "anonymous"), (bearing("ada-token"), "ada")]
)
def test_a_429_says_until_when_and_how_to_go_on(serve, request_, principal) -> None:
    service = serve()
    statuses(service, 4, **request_)
    error = service.get(PATH, **request_).json()["error"]
    assert "requests an hour are used up until 13:00:00 UTC." in error
    assert f"curl -X DELETE http://mock.test/__admin/limits/{principal}," in error
    assert error.endswith("or start the mock with --choose rate-limits=warn.")
    assert service.recorded[-1].notes == [error]


def test_a_warning_takes_the_place_of_429_once_an_hour(serve) -> None:
    service = serve(choices={"rate-limits": "warn"})
    responses = [service.get(PATH) for _ in range(6)]
    assert [r.status_code for r in responses] == [200] * 6
    assert [r.headers["x-ratelimit-remaining"] for r in responses] == list("210000")
    warned = ["x-mock-rate-limit" in r.headers for r in responses]
    assert warned == [False, False, False, True, False, False]
    assert [bool(context.notes) for context in service.recorded] == warned
    service.time.advance(timedelta(hours=1))
    assert service.get(PATH).headers["x-ratelimit-remaining"] == "2"
