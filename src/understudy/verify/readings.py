"""Reads which option or number of a switch a deployment has, judges by facts, and experiments.

An experiment only sends requests for a question that no probe settles; the readings interpret its
exchanges. A limit is searched by as few trials as possible: every number up to it is accepted, and
larger ones are refused. Operators choose round numbers, so these are tried before the ranges between
them are halved.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from understudy.exchange.messages import Exchange
from understudy.interface.facts import OTHERWISE, Fact, is_as_chosen
from understudy.interface.rules import NumberRange, Rule
from understudy.verify import rules  # noqa: F401 - registers every check and reading
from understudy.verify.checks import CheckResult, expect
from understudy.verify.clock import Time
from understudy.verify.gateway import Gateway
from understudy.verify.history import History
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Refusal
from understudy.verify.pictures import avatars, id_of, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import lacking
from understudy.verify.switches import (
    EXPERIMENTS,
    NUMBER_READINGS,
    READINGS,
    Experiment,
    Trial,
    range_of,
)
from understudy.verify.target import Target


def options_shown(exchange: Exchange, history: History) -> Iterator[tuple[str, str]]:
    """Yields each rule of which an exchange shows the deployment's option, with the option."""
    for reading in READINGS:
        option = reading.option(exchange, history)
        if option is not None:
            yield reading.rule, option


def shown_options(
    exchanges: Iterable[Exchange], history: History
) -> dict[str, dict[str, list[Exchange]]]:
    """Returns, by rule and option, the exchanges that show the option.

    Args:
        exchanges: The exchanges, in order.
        history: A history of the same deployment without exchanges; they are added to it.
    """
    shown: dict[str, dict[str, list[Exchange]]] = {}
    for exchange in exchanges:
        for rule, option in options_shown(exchange, history):
            shown.setdefault(rule, {}).setdefault(option, []).append(exchange)
        history.add(exchange)
    return shown


def binds(fact: Fact, rule: Rule, result: CheckResult) -> bool:
    """Tells whether a deployment must meet a check, since a fact says that it follows the rule.

    If the rule has a switch, the fact covers only what it names: not other numbers, and not the
    form of a refusal.

    Args:
        fact: The fact of the rule.
        rule: The rule.
        result: The check result of the rule for an exchange.
    """
    if not is_as_chosen(fact, rule):
        return False
    return rule.switch is None or (rule.switch.range is None and not result.is_form)


def contradictions(
    exchange: Exchange, history: History, facts: Mapping[str, Fact]
) -> Iterator[tuple[str, CheckResult]]:
    """Yields, by rule, whether an exchange shows the same as the learned facts.

    Args:
        exchange: The exchange.
        history: The exchanges before it.
        facts: The facts, by rule.
    """
    if not facts:
        return
    for reading in READINGS:
        fact = facts.get(reading.rule)
        if fact is None or fact.reading == OTHERWISE:
            continue
        option = reading.option(exchange, history)
        if option is not None:
            result = expect(
                option == fact.reading,
                f"{fact.reading}, as learnt on {fact.learnt}",
                option,
            )
            yield reading.rule, result._replace(is_learnt=True)
    for numbers in NUMBER_READINGS:
        fact = facts.get(numbers.rule)
        if fact is None or not fact.reading.isdecimal():
            continue
        trial = numbers.trial(exchange, history)
        if trial is not None:
            is_as_learnt = trial.is_accepted == (trial.number <= int(fact.reading))
            result = expect(is_as_learnt, numbers.expectation(fact), trial.described())
            yield numbers.rule, result._replace(is_learnt=True)


NOT_TRIED: Final = "no number was tried"


@dataclass(frozen=True, slots=True)
class Bracket:
    """The range in which the number of a deployment still can be.

    Attributes:
        range: The numbers that the switch takes. The deployment's own may be smaller or larger.
        low: The largest number that was accepted; one step below the range if none was.
        high: The smallest number that was refused; two steps above the range if none was.
        is_smallest: Whether the number is a lower limit. Its trial then sends the number one step
            below, and is regarded as accepted if that was refused.
    """

    range: NumberRange
    low: int
    high: int
    is_smallest: bool = False

    @property
    def is_contradictory(self) -> bool:
        """True if a number was refused, and the same or a larger one accepted."""
        return self.low >= self.high

    @property
    def is_settled(self) -> bool:
        """True if one number is left."""
        return self.high - self.low == self.range.step

    @property
    def value(self) -> str:
        """The number that is left, or in words on which side of the switch's range it is."""
        if self.low < self.range.least:
            return f"less than {self.range.least}"
        return f"more than {self.range.most}" if self.low > self.range.most else str(self.low)

    def narrowed(self, number: int, *, is_accepted: bool) -> "Bracket":
        """Returns the bracket after the trial of a number."""
        if is_accepted:
            beyond = self.range.most + self.range.step
            return replace(self, low=max(self.low, min(number, beyond)))
        return replace(self, high=min(self.high, number))

    def __str__(self) -> str:
        """Returns the bracket in words."""
        below = self.range.step if self.is_smallest else 0
        done, other = ("refused", "accepted") if self.is_smallest else ("accepted", "refused")
        has_high = self.high <= self.range.most + self.range.step
        low = "" if self.low < self.range.least else f"{self.low - below} was {done}"
        high = f"{self.high - below} was {other}" if has_high else ""
        return " and ".join(filter(None, (low, high))) or NOT_TRIED


def bracket_of(
    numbers: NumberRange, trials: Iterable[tuple[int, bool]], *, is_smallest: bool = False
) -> Bracket:
    """Returns the bracket that trials leave of a range.

    Args:
        numbers: The range.
        trials: Numbers, each with whether it was accepted.
        is_smallest: As of ``Bracket``.
    """
    step = numbers.step
    bracket = Bracket(numbers, numbers.least - step, numbers.most + 2 * step, is_smallest)
    for number, is_accepted in trials:
        bracket = bracket.narrowed(number, is_accepted=is_accepted)
    return bracket


def most_trials(numbers: NumberRange, likely: Sequence[int]) -> int:
    """Returns the most trials that a search takes: in the likely numbers, and in the widest gap."""
    step = numbers.step
    ends = (numbers.least - step, *likely, numbers.most + 2 * step)
    widest = max((high - low) // step for low, high in pairwise(ends))
    return len(likely).bit_length() + 1 + widest.bit_length()


def next_trial(bracket: Bracket, likely: Sequence[int], expected: int | None = None) -> int | None:
    """Returns the number to try next; None if nothing is left to be tried.

    Args:
        bracket: The bracket that the trials so far leave.
        likely: The numbers that operators choose, in ascending order.
        expected: The number that the deployment had before, which two trials confirm.
    """
    if bracket.is_settled or bracket.is_contradictory:
        return None
    step = bracket.range.step
    if expected is not None:
        for number in (expected, expected + step):
            if bracket.low < number < bracket.high:
                return number
    steps = range(bracket.low + step, bracket.high, step)
    between = [number for number in likely if number in steps]
    if between:
        return between[len(between) // 2]
    if bracket.low in likely:
        return bracket.low + step
    return bracket.low + (bracket.high - bracket.low) // step // 2 * step


@dataclass
class Trials:
    """The numbers that the exchanges of a run have tried.

    Attributes:
        history: The exchanges that were read.
        by_rule: The trials of each rule.
    """

    history: History
    by_rule: dict[str, list[Trial]] = field(default_factory=dict)
    _read: int = 0

    def heed(self, exchanges: Sequence[Exchange]) -> None:
        """Reads the exchanges that were appended to the run's list since the last call."""
        for exchange in exchanges[self._read :]:
            for reading in NUMBER_READINGS:
                trial = reading.trial(exchange, self.history)
                if trial is not None:
                    self.by_rule.setdefault(reading.rule, []).append(trial)
            self.history.add(exchange)
        self._read = len(exchanges)

    def bracket(self, rule: str) -> Bracket:
        """Returns the bracket that the trials leave of the range of a rule."""
        trials: Iterable[Trial] = self.by_rule.get(rule, ())
        tried = ((trial.number, trial.is_accepted) for trial in trials)
        is_smallest = any(each.is_smallest for each in NUMBER_READINGS if each.rule == rule)
        return bracket_of(range_of(rule), tried, is_smallest=is_smallest)

    def neighbours(self, rule: str) -> list[Trial]:
        """Returns the trials of the largest accepted and of the smallest refused number."""
        bracket = self.bracket(rule)
        ends = {bracket.low: True, bracket.high: False}
        trials = self.by_rule.get(rule, ())
        return [trial for trial in trials if ends.get(trial.number) is trial.is_accepted]

    def tried_once(self, rule: str) -> list[int]:
        """Returns the numbers on both sides of the answer that were tried only once."""
        if rule not in self.by_rule or not self.bracket(rule).is_settled:
            return []
        times = Counter(trial.number for trial in self.neighbours(rule))
        return [number for number, count in times.items() if count == 1]


NEIGHBOURS: Final = 2
"""Numbers that are tried again to confirm an answer: the last accepted and the first refused."""


class PlannedExperiment(NamedTuple):
    """An experiment that may be sent.

    Attributes:
        rule: Id of the rule whose question it settles.
        name: Its name in reports.
        requests: The most requests that it sends.
        repetition: The most requests that it sends to confirm its answer.
        bytes: The most bytes of files that it uploads.
        undo: How its changes are undone; empty if it changes nothing.
        reason: Why it cannot be sent; None if it can.
    """

    rule: str
    name: str
    requests: int
    repetition: int
    bytes: int
    undo: str
    reason: str | None


def planned_experiments(
    wanted: Container[str], target: Target, time: Time
) -> Iterator[PlannedExperiment]:
    """Yields the experiments of some rules; a run skips those that its probes have answered.

    Args:
        wanted: Ids of the rules.
        target: The deployment and its permissions.
        time: The deployment's time, which some experiments move.
    """
    for experiment in in_order():
        if experiment.rule in wanted:
            trials = _most_trials(experiment) if experiment.tries_numbers else 1
            yield PlannedExperiment(
                experiment.rule,
                experiment.name,
                trials * experiment.requests,
                (NEIGHBOURS if experiment.tries_numbers else 1) * experiment.requests,
                trials * range_of(experiment.rule).most if experiment.sends_bytes else 0,
                experiment.undo,
                lacking(experiment.needs, target, time),
            )


def _most_trials(search: Experiment) -> int:
    """Returns the most trials that a search takes."""
    if search.uploads:
        return search.uploads + 2  # two lists are as one trial, and an upload is tried again
    expected = NEIGHBOURS if search.alike else 0  # the number of a similar rule, and the next one
    return expected + most_trials(range_of(search.rule), search.likely)


SENDERS: Final[Mapping[str, str]] = {each.name: each.rule for each in EXPERIMENTS}
"""The rule of each experiment, by the source of its exchanges."""


def in_order() -> list[Experiment]:
    """Returns the experiments in their order; those that fill an account up come last."""
    return sorted(EXPERIMENTS, key=attrgetter("tries_numbers", "uploads"))


def carry_out_experiments(
    gateway: Gateway,
    earlier: Sequence[Exchange],
    wanted: Container[str],
    trials: Trials,
    facts: Mapping[str, Fact],
) -> dict[str, str]:
    """Sends the experiments of some rules.

    Args:
        gateway: Sends the requests.
        earlier: The exchanges of the run so far; the run appends the new ones.
        wanted: Ids of the rules.
        trials: Reads which numbers were accepted.
        facts: Facts learned about the deployment earlier, by rule; their numbers are tried first.

    Returns:
        The reason why an experiment could not be carried out, by its rule.

    Raises:
        Refusal: The budget or the time is used up.
    """
    reasons = {}
    for experiment in in_order():
        if experiment.rule in wanted:
            client = ProbeClient(gateway, experiment.name, earlier)
            send: Callable[[], object] = partial(experiment.run, client)
            if experiment.tries_numbers:
                expected = expected_number(experiment, trials, facts)
                send = partial(find_number, experiment, client, trials, expected)
            reason = lacking(experiment.needs, gateway.target, gateway.time) or _refusal_of(send)
            if reason is not None:
                reasons[experiment.rule] = reason
    return reasons


def _refusal_of(run: Callable[[], object]) -> str | None:
    """Carries out an experiment, and returns the reason if it is refused."""
    try:
        run()
    except (BudgetSpent, OutOfTime):
        raise
    except Refusal as refusal:
        return str(refusal)
    return None


def expected_number(search: Experiment, trials: Trials, facts: Mapping[str, Fact]) -> int | None:
    """Returns the number to try first: the one learned earlier, or that of a similar rule."""
    fact = facts.get(search.rule)
    if fact is not None and fact.reading.isdecimal():
        return int(fact.reading)
    bracket = trials.bracket(search.alike) if search.alike else None
    is_settled = bracket is not None and bracket.is_settled and bracket.value.isdecimal()
    return int(bracket.value) if bracket is not None and is_settled else None


def find_number(
    search: Experiment, client: ProbeClient, trials: Trials, expected: int | None
) -> None:
    """Tries one number after the other until one is left, or a trial shows nothing."""
    if search.uploads:
        _count_up(search, client, trials)
        return
    trials.heed(client.earlier)
    bracket = trials.bracket(search.rule)
    number = next_trial(bracket, search.likely, expected)
    while number is not None:
        search.run(client, number)
        trials.heed(client.earlier)
        before, bracket = bracket, trials.bracket(search.rule)
        number = None if bracket == before else next_trial(bracket, search.likely, expected)


def _count_up(search: Experiment, client: ProbeClient, trials: Trials) -> None:
    """Uploads one avatar after the other until one is refused, or the run's most are uploaded.

    A refused upload is repeated at once, to confirm it. Then all avatars are deleted, since nothing
    else can be uploaded to a full account.

    Raises:
        NotPermitted: The account has avatars that a deployment may evict, or no upload was refused.
    """
    before = avatars(client)
    if before.body != [] and not client.target.permit.fill_account:
        msg = (
            "the account has avatars, and a deployment may evict some when it is filled up: name an "
            "empty account, or permit it by [permit] fill_account = true"
        )
        raise NotPermitted(msg)
    uploaded: list[str] = []
    try:
        for _upload in range(search.uploads):
            exchange = upload(client, picture(), select_avatar="false")
            if not exchange.response.is_success:
                search.run(client, 0)
                break
            uploaded.append(id_of(exchange))
    finally:
        trials.heed(client.earlier)
        for image in uploaded:
            client.send("DELETE", f"/me/avatars/{image}", "owner")
    if len(uploaded) == search.uploads:
        msg = f"a run uploads {search.uploads} avatars at most"
        raise NotPermitted(msg)
