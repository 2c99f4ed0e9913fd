"""What is kept is found again, and what comes only once makes nothing else go."""

from understudy.mock.server.recent import Recent, RecentWithin, Recurring


def test_the_newest_results_are_kept() -> None:
    recent: Recent[int, str] = Recent(2)
    for number in range(3):
        recent.put(number, f"result {number}")
    assert [recent.get(number) for number in range(3)] == [None, "result 1", "result 2"]


def test_the_newest_results_are_kept_within_a_bound_of_bytes() -> None:
    recent: RecentWithin[int, bytes] = RecentWithin(16, len)
    for number in range(10):
        recent.put(number, b"ab")
    assert [number for number in range(10) if recent.get(number)] == [2, 3, 4, 5, 6, 7, 8, 9]
    assert recent.put(10, b"abc") == b"abc"
    assert recent.get(10) is None  # more than an eighth of the bound
    recent.put(2, b"ab")  # again, and counted once
    assert recent.get(3) == b"ab"


def test_what_recurs_is_kept_from_the_second_time_on() -> None:
    recent: Recent[str, int] = Recurring(2)
    assert recent.put("key", 1) == 1
    assert recent.get("key") is None
    assert recent.put("key", 2) == 2
    assert recent.get("key") == 2
    recent.put("key", 3)
    assert recent.get("key") == 3


def test_what_comes_once_takes_no_place() -> None:
    recent: Recent[int, int] = Recurring(2)
    for key in (1, 1, 2, 2, *range(3, 1000)):
        recent.put(key, key)
    assert [recent.get(key) for key in range(1, 4)] == [1, 2, None]
