"""Tells when something begins that then happens over and over, so that the log has one line of it."""

from time import monotonic

_QUIET = 10.0
"""Seconds without an occurrence after which the next one begins an episode."""


class Episode:
    """Occurrences that follow one another closely."""

    def __init__(self) -> None:
        self._latest = -_QUIET

    def begins(self) -> bool:
        """Takes an occurrence; returns whether it is the first of an episode."""
        now = monotonic()
        is_first = now - self._latest > _QUIET
        self._latest = now
        return is_first
