"""The quota of the hour, beside an oracle that keeps every timestamp."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from understudy.mock.server.windows import WINDOW, Window, Windows, count

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Timestamps:
    """The same rule in other words: those that passed since the first one of the hour."""

    def __init__(self) -> None:
        self.passed: list[datetime] = []
        self.opened: datetime | None = None

    def takes(self, now: datetime, limit: int) -> bool:
        if self.opened is None or now - self.opened >= timedelta(hours=1):
            self.opened = now
        within = [moment for moment in self.passed if moment >= self.opened]
        if len(within) >= limit:
            return False
        self.passed.append(now)
        return True


@given(
    limit=st.integers(0, 5),
    steps=st.lists(st.timedeltas(timedelta(seconds=1), timedelta(minutes=40)), max_size=40),
)
def test_it_allows_what_a_list_of_timestamps_allows(limit: int, steps: list[timedelta]) -> None:
    oracle, window, now = Timestamps(), None, START
    for step in steps:
        now += step
        verdict, window = count(window, now, limit)
        assert verdict.allowed == oracle.takes(now, limit)
        assert verdict.remaining == limit - window.used
        assert now < verdict.reset <= now + WINDOW


@given(
    requests=st.lists(
        st.tuples(st.sampled_from("abcdef"), st.timedeltas(timedelta(), timedelta(minutes=40))),
        max_size=60,
    )
)
def test_dropping_closed_windows_changes_no_decision_and_keeps_no_more_than_were_open(
    requests: list[tuple[str, timedelta]],
) -> None:
    windows, kept_for_good, now, most = Windows(), dict[str, Window](), START, 0
    for principal, step in requests:
        now += step
        verdict, window = count(windows.get(principal), now, 3)
        expected, kept_for_good[principal] = count(kept_for_good.get(principal), now, 3)
        assert verdict == expected
        windows.keep(principal, window)
        most = max(most, sum(not window.is_closed(now) for window in kept_for_good.values()))
        assert len(windows) <= most
        assert [w.opened for w in windows.values()] == sorted(w.opened for w in windows.values())


def test_windows_of_before_the_time_was_set_back_make_room_too() -> None:
    windows = Windows({"a": Window(START + timedelta(days=1), 1)})
    assert windows.keep("b", Window(START, 1)) == ["a"]


def test_a_window_opens_anew_at_the_very_end_of_the_hour() -> None:
    full = Window(START, 1)
    assert not count(full, START + WINDOW - timedelta(microseconds=1), 1)[0].allowed
    verdict, window = count(full, START + WINDOW, 1)
    assert verdict.allowed
    assert window == Window(START + WINDOW, 1)


def test_a_refused_request_uses_nothing() -> None:
    assert count(Window(START, 3), START, 3)[1] == Window(START, 3)


def test_a_limit_that_was_lowered_leaves_nothing_and_not_less() -> None:
    assert count(Window(START, 9), START, 3)[0].remaining == 0


def test_the_headers_say_limit_remaining_and_reset_in_unix_seconds() -> None:
    verdict, _ = count(None, START, 100)
    assert dict(verdict.headers) == {
        "x-ratelimit-limit": "100",
        "x-ratelimit-remaining": "99",
        "x-ratelimit-reset": str(int(START.timestamp()) + 3600),
    }


def test_an_hour_of_the_clock_ends_with_it() -> None:
    decision, window = count(None, START + timedelta(minutes=17), 3, is_aligned=True)
    assert (decision.reset, decision.remaining) == (START + WINDOW, 2)
    assert (
        count(window, START + timedelta(minutes=59), 3, is_aligned=True)[0].reset == decision.reset
    )
