"""Plans and sends the experiments of ``learn``: requests for the questions that no probe settles.

An experiment only sends requests; the readings interpret its exchanges. An experiment that searches
for a number is repeated with the next number to try, until one is left.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple

from understudy.exchange.messages import Exchange
from understudy.interface.facts import Fact
from understudy.verify.clock import Time
from understudy.verify.gateway import Gateway
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Refusal
from understudy.verify.pictures import avatars, id_of, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import lacking
from understudy.verify.readings import Trials, most_trials, next_trial
from understudy.verify.switches import EXPERIMENTS, Experiment, range_of
from understudy.verify.target import Target

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
