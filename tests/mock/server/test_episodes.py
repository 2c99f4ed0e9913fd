"""Something that happens over and over begins once, until it has paused."""

from understudy.mock.server import episodes
from understudy.mock.server.episodes import Episode


def test_an_episode_begins_again_after_a_pause_only(monkeypatch):
    times = iter([5.0, 6.0, 15.5, 26.0, 26.1])
    monkeypatch.setattr(episodes, "monotonic", lambda: next(times))
    episode = Episode()
    assert [episode.begins() for _ in range(5)] == [True, False, False, True, False]
