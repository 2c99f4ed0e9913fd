"""The headers of successive responses show when the hour of a rate limit begins."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.verify.exchanges import exchange_of

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import Exchange, Response
from understudy.interface.limit_headers import moment_of
from understudy.interface.operations import LOOKUP
from understudy.verify.checks import CheckResult, check_results
from understudy.verify.history import History
from understudy.verify.readings import options_shown

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def lookup(number: int, at: float, reset: float) -> Exchange:
    """Returns a counted response, with its time and that of the reset in minutes after noon."""
    moment = int((NOON + timedelta(minutes=reset)).timestamp())
    names = ("limit", "remaining", "reset")
    texts = ("100", str(99 - number), str(moment))
    headers = tuple((f"x-ratelimit-{n}", text) for n, text in zip(names, texts, strict=True))
    return exchange_of(
        "/profiles/ada",
        number=number,
        operation=LOOKUP,
        at=NOON + timedelta(minutes=at),
        response=Response(200, headers),
    )


def read(*lookups: tuple[float, float]) -> list[str]:
    """Returns the options that lookups show, each by its time and that of its reset."""
    history, options = History(TARGET), []
    for number, (at, reset) in enumerate(lookups):
        exchange = lookup(number, at, reset)
        options += [
            name for rule, name in options_shown(exchange, history) if rule == "rate-limit-window"
        ]
        history.add(exchange)
    return options


@pytest.mark.parametrize(
    ("lookups", "options"),
    [
        ([(10, 60)], ["clock-hour"]),
        ([(10, 70), (25, 70)], ["first-request"]),
        ([(10, 70), (25, 85)], ["a sliding hour"]),
        ([(10, 70), (75, 135)], []),
        ([(0, 60), (10, 60)], []),
        ([(10, 70)], []),
        ([(10, 70), (69.99, 129.99)], []),
        ([(10, 190), (25, 190)], []),
        ([(10, 70), (25, 70.015)], ["first-request"]),
    ],
)
def test_a_reset_shows_where_the_hour_begins_unless_it_could_be_chance(
    lookups: list[tuple[float, float]], options: list[str]
) -> None:
    assert read(*lookups) == options


def test_hours_before_the_clock_was_put_back_are_compared_with_none():
    history = History(TARGET)
    history.add(lookup(1, at=1500, reset=1560))
    assert read((5, 65), (10, 65), (1500, 1560), (15, 75)) == ["first-request"]
    results = [
        *check_results(
            lookup(2, at=10, reset=70), history, dict.fromkeys(["rate-limit-window"]).keys()
        )
    ]
    assert [result.holds for _, result in results if isinstance(result, CheckResult)] == [True]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("3600", NOON + timedelta(hours=1)),
        ("0", NOON),
        (str(int(NOON.timestamp()) + 90), NOON + timedelta(seconds=90)),
        (str(int(NOON.timestamp()) - 90), NOON - timedelta(seconds=90)),
    ],
)
def test_a_moment_before_today_is_seconds_from_now(text: str, moment: datetime) -> None:
    assert moment_of(int(text), NOON) == moment


@pytest.mark.parametrize(("left", "is_early"), [(0, False), (1, False), (2, True)])
def test_a_429_is_early_only_if_more_was_left_than_a_head_since_may_have_used(left, is_early):
    before = lookup(99 - left, at=0, reset=60)
    head = exchange_of("/profiles/ada", number=100, method="HEAD", at=NOON)
    late = exchange_of("/profiles/ada", number=101, operation=LOOKUP, status=429, at=NOON)
    history = History(TARGET)
    history.add(before)
    history.add(head)
    results = [result for _, result in check_results(late, history)]
    actual = [result.actual for result in results if isinstance(result, CheckResult)]
    assert (f"429 with {left} left" in actual) is is_early
