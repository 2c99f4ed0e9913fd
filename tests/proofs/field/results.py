"""What one run of a judge at a target found, as it is kept."""

import msgspec


class Result(msgspec.Struct, frozen=True):
    """One run.

    Attributes:
        target: The target.
        is_sound: True for its setting without bugs, where every finding is an alarm.
        judge: The judge.
        seed: The seed.
        planted: The number of bugs that are planted.
        found: Those of them that a finding shows.
        findings: The number of findings.
        requests: The requests that were sent.
        seconds: Processor time of the judge.
    """

    target: str
    is_sound: bool
    judge: str
    seed: int
    planted: int
    found: tuple[str, ...]
    findings: int
    requests: int
    seconds: float

    @property
    def key(self) -> tuple[str, bool, str, int]:
        """What no other run has."""
        return self.target, self.is_sound, self.judge, self.seed

    @property
    def line(self) -> str:
        """One line for a terminal."""
        setting = (
            f"{self.findings} alarms" if self.is_sound else f"{len(self.found)}/{self.planted}"
        )
        return f"{self.target}: {self.judge}, seed {self.seed}: {setting}, {self.requests} requests"
