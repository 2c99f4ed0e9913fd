"""Plans and sends the experiments of ``learn``: requests for the questions that no probe settles.

An experiment only sends; what its exchanges show is for the readings to say. One that tries a number
is sent again with the next number to try, until one is left.
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
"""Numbers beside an answer, the one accepted and the other refused, that are tried again."""


class PlannedExperiment(NamedTuple):
    """An experiment that may be sent.

    Attributes:
        rule: Id of the rule whose question it settles.
        name: Its name in reports.
        requests: How many it sends at most.
        repetition: How many it sends at most to see the answer again.
        bytes: How many bytes of files it uploads at most.
        undo: How what it changes is undone; empty where nothing is changed.
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
    """Yields the experiments of some rules; those are not sent whose answer the probes show.

    Args:
        wanted: Ids of the rules.
        target: What is permitted.
        time: Whether the deployment's time can be moved.
    """
    for each in in_order():
        if each.rule in wanted:
            trials = _most_trials(each) if each.tries_numbers else 1
            yield PlannedExperiment(
                each.rule,
                each.name,
                trials * each.requests,
                (NEIGHBOURS if each.tries_numbers else 1) * each.requests,
                trials * range_of(each.rule).most if each.sends_bytes else 0,
                each.undo,
                lacking(each.needs, target, time),
            )


def _most_trials(search: Experiment) -> int:
    """Returns how many trials a search takes at most."""
    if search.uploads:
        return search.uploads + 2  # two lists are as one trial, and an upload is tried again
    expected = NEIGHBOURS if search.alike else 0  # the number of a rule alike, and the next
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
        earlier: What the run exchanged so far, kept up to date.
        wanted: Ids of the rules.
        trials: Reads which numbers were accepted.
        facts: What was learnt of the deployment before, by rule: its numbers are tried first.

    Returns:
        The reason why an experiment could not be carried out, by its rule.

    Raises:
        Refusal: The budget or the time is used up.
    """
    reasons = {}
    for each in in_order():
        if each.rule in wanted:
            client = ProbeClient(gateway, each.name, earlier)
            send: Callable[[], object] = partial(each.run, client)
            if each.tries_numbers:
                expected = expected_number(each, trials, facts)
                send = partial(find_number, each, client, trials, expected)
            reason = lacking(each.needs, gateway.target, gateway.time) or _tried(send)
            if reason is not None:
                reasons[each.rule] = reason
    return reasons


def _tried(run: Callable[[], object]) -> str | None:
    """Carries out an experiment, and returns the reason where that cannot be done."""
    try:
        run()
    except (BudgetSpent, OutOfTime):
        raise
    except Refusal as refusal:
        return str(refusal)
    return None


def expected_number(search: Experiment, trials: Trials, facts: Mapping[str, Fact]) -> int | None:
    """Returns the number that is tried first: the one learnt before, or that of a rule alike."""
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
    """Uploads one avatar after the other until one is refused, or there were enough uploads.

    What is refused is tried again at once, and then all are deleted, as nothing else can be uploaded
    to an account that is full.

    Raises:
        NotPermitted: The account has avatars that a deployment may evict, one was removed for an
            upload, or none was refused and a run uploads no more.
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
