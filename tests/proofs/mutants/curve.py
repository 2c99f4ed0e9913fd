"""What a run over all mutants says: the curve, and the matrix mutant x rule."""

import csv
import io
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

STEPS = (10, 25, 50, 100, 250, 1000)


@dataclass(frozen=True)
class Trial:
    """What became of one mutant.

    Attributes:
        mutant: Its name.
        is_mechanical: Whether it was made from the documents.
        rules: Those that it breaks.
        sightings: For each seed after how many requests one of those was found broken, or None.
        found: The rules found broken with the first seed, each with the number of its request.
        peers: For each seed of Schemathesis after how many requests a check of it failed, or None.
        crashed: What the mutant's own code failed on; then nothing else is known of it.
        noted: After how many requests one of those was noted with the first seed, as an assumption
            that does not bind another deployment; None where it never was.
    """

    mutant: str
    is_mechanical: bool
    rules: tuple[str, ...]
    sightings: tuple[int | None, ...] = ()
    found: Mapping[str, int] = field(default_factory=dict)
    peers: tuple[int | None, ...] = ()
    crashed: str = ""
    noted: int | None = None

    @property
    def is_caught(self) -> bool:
        """Tells whether a rule that it breaks was found broken, whatever the seed."""
        return bool(self.sightings) and None not in self.sightings

    @property
    def is_only_noted(self) -> bool:
        """Tells whether a rule that it breaks was noted, and none found broken."""
        return not self.is_caught and self.noted is not None

    def __str__(self) -> str:
        kind = "m" if self.is_mechanical else " "
        if self.crashed:
            return f"{kind} {self.mutant}: CRASHED: {self.crashed}"
        number = self.sightings[0]
        caught = [rule for rule in self.found if rule in self.rules]
        others = [rule for rule in self.found if rule not in self.rules]
        missed = f"only noted, request {self.noted}" if self.is_only_noted else "NOT CAUGHT"
        text = f"{kind} {self.mutant}: {f'request {number}' if self.is_caught else missed}"
        text += f": {', '.join(caught)}" if caught else ""
        text += f", also {', '.join(others)}" if others else ""
        text += f"; Schemathesis: {self.peers[0] or 'not'}" if self.peers else ""
        return text


def curve(runs: Iterable[Sequence[int | None]], last: int | None = None) -> list[str]:
    """Returns how many were caught after each step: the median over the seeds, and the range.

    Args:
        runs: A line for each mutant: the number of the request that showed it, for each seed.
        last: The last step; without it, that of whatever number.
    """
    by_seed = list(zip(*runs, strict=True))
    steps = [*(step for step in STEPS if last is None or step < last)]
    ends: list[tuple[str, float]] = [(f"{step} requests", step) for step in steps]
    ends.append((f"{last} requests", last) if last else ("all its requests", float("inf")))
    return [
        f"caught after {name}: {_spread([_caught(numbers, step) for numbers in by_seed], whole)}"
        for whole in {len(numbers) for numbers in by_seed}
        for name, step in ends
    ]


def _caught(numbers: Iterable[int | None], step: float) -> int:
    return sum(number is not None and number <= step for number in numbers)


def _spread(counts: Sequence[int], whole: int) -> str:
    median = statistics.median(counts)
    extent = f", {min(counts)} to {max(counts)}" if len(counts) > 1 else ""
    return f"{median:g} of {whole} ({median / whole:.0%}){extent}"


def untripped(trials: Iterable[Trial], rules: Iterable[str]) -> list[str]:
    """Returns the rules that no mutant tripped which breaks them."""
    tripped = {rule for trial in trials for rule in trial.found if rule in trial.rules}
    return sorted(set(rules) - tripped)


def by_section(trials: Iterable[Trial], sections: Mapping[str, str]) -> list[str]:
    """Returns the matrix in short: a table in Markdown, a line for each section of the interface.

    Args:
        trials: All of them.
        sections: Rule id to its section, in the order of the interface.
    """
    tried = list(trials)
    lines = [
        "| section of the interface | rules | tripped | mutants | caught |",
        "|---|--:|--:|--:|--:|",
    ]
    for section in dict.fromkeys(sections.values()):
        rules = {rule for rule, named in sections.items() if named == section}
        owned = [(trial, rules.intersection(trial.rules)) for trial in tried]
        broken = [(trial, own) for trial, own in owned if own]
        shown = [own.intersection(trial.found) for trial, own in broken]
        counts = (len(rules), len(set().union(*shown)), len(broken), sum(map(bool, shown)))
        lines.append(f"| {section} | {' | '.join(map(str, counts))} |")
    return lines


def as_csv(trials: Sequence[Trial]) -> str:
    """Returns the matrix mutant x rule.

    A cell holds the number of the request that showed the rule broken, in brackets where the mutant
    is not meant to break it, or a dash where it was meant to, and another rule showed it.
    """
    rules = _columns(trials)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["mutant", "made", "caught", "schemathesis", *rules])
    for trial in trials:
        made = "mechanically" if trial.is_mechanical else "by hand"
        numbers = [runs[0] if runs else None for runs in (trial.sightings, trial.peers)]
        cells = [_cell(trial, rule) for rule in rules]
        table.writerow([trial.mutant, made, *("" if n is None else n for n in numbers), *cells])
    return text.getvalue()


def _cell(trial: Trial, rule: str) -> str:
    number = trial.found.get(rule)
    if rule not in trial.rules:
        return "" if number is None else f"({number})"
    return "-" if number is None else str(number)


def as_text(trials: Sequence[Trial]) -> list[str]:
    """Returns the matrix for a wide terminal, a sign a rule: # caught, - not, + beside its own."""
    rules = _columns(trials)
    width = max((len(trial.mutant) for trial in trials), default=0)
    digits = len(str(len(rules)))
    lines = [f"{number:{digits}} {rule}" for number, rule in enumerate(rules, 1)]
    for place in range(digits):
        heading = "".join(f"{number:{digits}}"[place] for number in range(1, len(rules) + 1))
        lines.append(" " * (width + 1) + heading.rstrip())
    for trial in trials:
        signs = "".join(_sign(_cell(trial, rule)) for rule in rules)
        lines.append(f"{trial.mutant:{width}} {signs}".rstrip())
    return lines


def _sign(cell: str) -> str:
    if not cell:
        return " "
    return {"(": "+", "-": "-"}.get(cell[0], "#")


def _columns(trials: Iterable[Trial]) -> list[str]:
    return sorted({rule for trial in trials for rule in (*trial.rules, *trial.found)})
