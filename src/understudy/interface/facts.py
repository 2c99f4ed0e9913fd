"""Facts: a deployment's answers to questions that the interface leaves open.

``understudy learn`` writes them, and a person reviews them; then the mock behaves accordingly
(``serve --facts``), and verify expects it (``verify --facts``). A facts file is YAML with one entry
for each fact, so that version control shows a change of the deployment as a changed line.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

import yaml
from msgspec import Struct, ValidationError, convert, to_builtins

from understudy.errors import StartupError, nearest, not_a_record
from understudy.interface.rules import Rule
from understudy.openapi.yaml_files import read_yaml
from understudy.terminal import printable

AS_ASSUMED: Final = "as assumed"
"""Reading: the deployment does what the catalogue assumes."""

OTHERWISE: Final = "otherwise"
"""Reading: the deployment does something for which no option exists."""

LINE: Final = 10_000
"""Longest line of a facts file, in characters: unwrapped commands can be copied."""


Sure = Literal["", "seen once", "seen twice"]
"""Tells how often an answer was seen; empty in files of versions that did not record it."""

TWICE: Final = 2
"""Number of times that an answer must be seen to be sure."""


class Fact(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An answer of one deployment to a question that the interface leaves open.

    Attributes:
        rule: The id of the rule that assumes an answer.
        reading: The option of the rule's switch that the deployment takes; of a rule without a
            switch ``as assumed`` or ``otherwise``.
        shown_by: The exchanges that show it, each as a curl command with its caller and status, and
            with the number that it tries; of recorded traffic in a few words.
        seen: The number of exchanges that show it; none shows another reading.
        learnt: The day, as YYYY-MM-DD.
        actual: What the deployment does, where that is neither as assumed nor an option.
        requests: Number of requests that were sent for this question alone, without those that undo
            them at the end of the run.
        sure: Whether the answer was seen again when its requests were repeated.
    """

    rule: str
    reading: str
    shown_by: tuple[str, ...]
    seen: int
    learnt: str
    actual: str = ""
    requests: int = 0
    sure: Sure = ""


class Unsettled(Struct, frozen=True, forbid_unknown_fields=True):
    """A question that a deployment was not seen to answer.

    Attributes:
        rule: The id of the rule that assumes an answer.
        why: What was lacking, or the readings that contradict each other.
    """

    rule: str
    why: str


class Facts(Struct, frozen=True, forbid_unknown_fields=True):
    """A facts file.

    Attributes:
        deployment: Base URL of the deployment's resource API.
        learnt: The day of the run, as YYYY-MM-DD.
        requests: The number of requests that the run took.
        facts: The settled questions, in the catalogue's order.
        unsettled: The other questions.
    """

    deployment: str
    learnt: str
    requests: int
    facts: tuple[Fact, ...]
    unsettled: tuple[Unsettled, ...]

    def by_rule(self) -> dict[str, Fact]:
        """Returns the facts by the ids of their rules."""
        return {fact.rule: fact for fact in self.facts}


def load_facts(path: Path, rules: Iterable[Rule]) -> Facts:
    """Loads a facts file.

    Raises:
        StartupError: The file cannot be read, or names an unknown rule or option.
    """
    try:
        facts = convert(read_yaml(path), Facts)
    except ValidationError as error:
        what = not_a_record(error, Facts).rstrip(".")
        msg = f"{path} is not a file of facts ({what}). Write one with: understudy learn --target FILE --out {path}"
        raise StartupError(msg) from error
    known = {rule.id: rule for rule in rules}
    for fact in facts.facts:
        fault = _fault(fact, known)
        if fault:
            msg = f"{path}: {fault}"
            raise StartupError(msg)
    return facts


def sureness(seen: int) -> Sure:
    """Returns the certainty of an answer that was seen this many times."""
    return "seen twice" if seen >= TWICE else "seen once"


def is_as_chosen(fact: Fact, rule: Rule) -> bool:
    """Returns whether a deployment does what the catalogue assumes."""
    if rule.switch is None or fact.reading == OTHERWISE:
        return fact.reading == AS_ASSUMED
    return fact.reading == rule.switch.default


def choices_of(facts: Facts, rules: Iterable[Rule]) -> dict[str, str]:
    """Returns the options that make the mock behave as the facts say, by switch name."""
    learnt = facts.by_rule()
    return {
        rule.switch.name: learnt[rule.id].reading
        for rule in rules
        if rule.switch is not None
        and rule.id in learnt
        and learnt[rule.id].reading not in {AS_ASSUMED, OTHERWISE}
    }


def contradictory(files: Iterable[Facts]) -> Iterator[str]:
    """Yields a line for each question that facts of several deployments answer differently."""
    answers: dict[str, dict[str, list[str]]] = {}
    for facts in files:
        for fact in facts.facts:
            answer = fact.actual or fact.reading
            answers.setdefault(fact.rule, {}).setdefault(answer, []).append(facts.deployment)
    for rule, deployments in answers.items():
        if len(deployments) > 1:
            texts = (f"{answer} at {' and '.join(where)}" for answer, where in deployments.items())
            yield f"{rule}: {', '.join(texts)}"


def facts_text(facts: Facts) -> str:
    """Returns facts as the text of their file."""
    head = f"# What {facts.deployment} does where the interface leaves a question open.\n"
    head += "# Written by understudy learn; for serve --facts and verify --facts.\n"
    text = _dumped(facts, is_unicode=True)
    # YAML then escapes control characters, so that a reviewer sees the whole file in a terminal.
    return head + (text if printable(text) == text else _dumped(facts, is_unicode=False))


def _dumped(facts: Facts, *, is_unicode: bool) -> str:
    text: str = yaml.safe_dump(
        to_builtins(facts), sort_keys=False, allow_unicode=is_unicode, width=LINE
    )
    return text


def _fault(fact: Fact, rules: Mapping[str, Rule]) -> str:
    """Returns what is wrong with a fact; empty if nothing is."""
    rule = rules.get(fact.rule)
    if rule is None:
        return f"there is no rule '{fact.rule}'{nearest(fact.rule, list(rules)) or '.'}"
    switch = rule.switch
    readings = [*(switch.options if switch else [AS_ASSUMED]), OTHERWISE]
    if fact.reading in readings or (switch is not None and fact.reading in switch):
        return ""
    if switch is not None and switch.values is not None:
        return (
            f"{fact.rule} has no reading '{fact.reading}'. It has {switch.values}, or {OTHERWISE}."
        )
    hint = nearest(fact.reading, readings) or "."
    return f"{fact.rule} has no reading '{fact.reading}'{hint} It has {', '.join(readings)}."
