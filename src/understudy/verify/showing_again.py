"""Repeats the steps of each finding before it is printed, so that its commands are known to work.

A value that a response issues differs each time, so later requests are sent with the new one. If
the steps alone do not reproduce a finding, earlier requests are added: first all of the same sender
and all writes, then only their later half, as long as it suffices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.verify.evaluator import is_shown
from understudy.verify.findings import Finding, steps_of
from understudy.verify.gateway import BOOKKEEPING, Gateway
from understudy.verify.history import AGAIN, WRITES
from understudy.verify.issued_values import issued_anew, issued_values, rewritten
from understudy.verify.item_undo import AT_ONCE
from understudy.verify.permits import NotPermitted, Refusal
from understudy.verify.reproducing import turns
from understudy.verify.run import Run

MOST_SENT: Final = 150
"""Requests after which no further finding of a run is repeated."""

MOST_BEFORE: Final = 24
"""Most earlier requests that are added to the steps of a finding."""


def show_again(run: Run) -> None:
    """Repeats the steps of each finding, and records in it whether they reproduce it."""
    begun = run.gateway.sent
    for record in list(run.evaluator.records.values()):
        for place, finding in enumerate(record.findings):
            if finding.is_note or finding.needs_time or finding.attempts > 1:
                continue  # limits are used up, and time passes, only at the end of a run
            if run.gateway.sent - begun >= MOST_SENT:
                return
            try:
                record.findings[place] = _tried(run, finding)
            except Refusal:
                return


def _tried(run: Run, finding: Finding) -> Finding:
    if any(step.source.endswith(AT_ONCE) for step in finding.steps):
        return replace(finding, again="not sent again: a request lists items of this run")
    try:
        if _shows(run, finding):
            return replace(finding, again="failed again")
        earlier = _before(run, finding)
        longer = _preceded(run, finding, earlier)
        if not earlier or not _shows(run, longer):
            return replace(finding, again="the same requests did not fail again")
        while len(earlier) > 1:
            half = earlier[len(earlier) // 2 :]
            shorter = _preceded(run, finding, half)
            if not _shows(run, shorter):
                break
            earlier, longer = half, shorter
    except NotPermitted as refusal:  # such as changes after an account has lost an avatar
        return replace(finding, again=f"not sent again: {refusal}")
    return replace(longer, again="failed again with the requests before it")


def _before(run: Run, finding: Finding) -> list[Exchange]:
    """Returns the earlier requests on which a finding may rest beside its steps, oldest first."""
    numbers = {step.number for step in finding.steps}
    sources = {step.source for step in finding.steps}
    earlier = [
        exchange
        for exchange in run.exchanges
        if exchange.number < finding.exchange.number
        and exchange.number not in numbers
        and exchange.source not in {*BOOKKEEPING, AGAIN}
        and not exchange.source.endswith(AT_ONCE)
        and (exchange.source in sources or exchange.request.method in WRITES)
    ]
    return earlier[-MOST_BEFORE:]


def _preceded(run: Run, finding: Finding, earlier: Sequence[Exchange]) -> Finding:
    """Returns a finding with earlier requests, and those that issued the values in them."""
    steps = run.evaluator.history.with_origins((*earlier, *finding.steps))
    return replace(finding, steps=steps_of(finding.exchange, steps))


def _shows(run: Run, finding: Finding) -> bool:
    """Repeats the steps of a finding from the state before the run; returns whether they show it.

    Raises:
        Refusal: A step was not sent, or got no response.
    """
    if any(step.request.method in WRITES for step in finding.steps):
        run.undo.restore_changes()
    sent = _sent(run.gateway, finding)
    history, rule = run.evaluator.history, finding.rule.id
    if is_shown(rule, finding.steps, history):
        return is_shown(rule, sent, history)
    # a finding of the document or of a model, which no check can judge again
    return _form(sent[-1]) == _form(finding.exchange)


def _form(exchange: Exchange) -> tuple[object, ...]:
    return exchange.status, exchange.response.media_type, sorted(exchange.json_object)


def _sent(gateway: Gateway, finding: Finding) -> list[Exchange]:
    """Sends the steps of a finding as its commands do; some at the same moment, some repeatedly."""
    sent: list[Exchange] = []
    fresh: dict[str, str] = {}
    variables: dict[str, str] = {}
    issued = issued_values(finding.steps)
    for turn in turns(finding, issued):
        requests = [rewritten(finding.steps[place].request, fresh) for place in turn.places]
        for _ in range(turn.times):
            exchanges = (
                gateway.send_together(requests, AGAIN)
                if len(requests) > 1
                else [gateway.send(requests[0], AGAIN)]
            )
            sent += exchanges
        for one in issued.get(turn.places[0], ()):
            value = issued_anew(one, exchanges[0], variables)
            if value is not None:
                fresh[one.value] = variables[one.variable] = value
        _learn(gateway, finding.steps, fresh)
    return sent


def _learn(gateway: Gateway, steps: Sequence[Exchange], fresh: Mapping[str, str]) -> None:
    """Registers the identities of new tokens with the gateway."""
    for step in steps:
        token = fresh.get(step.request.token or "")
        if token is not None:
            gateway.learn(token, step.identity)
