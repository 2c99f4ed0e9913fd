"""Repeats the steps of each finding before it is printed, so that its commands are known to work.

A value that a response issues differs each time, so later requests are sent with the new one. If
the steps alone do not reproduce a finding, earlier requests are added: first all of the same sender
and all writes, then only their later half, as long as it suffices.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from msgspec import structs

from understudy.exchange.messages import Exchange
from understudy.verify.evaluator import is_shown
from understudy.verify.findings import DOCUMENT, Finding, steps_of
from understudy.verify.gateway import BOOKKEEPING, Gateway
from understudy.verify.history import AGAIN, WRITES
from understudy.verify.issued_values import IssuedValue, issued_anew, issued_values, rewritten
from understudy.verify.item_undo import AT_ONCE
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Refusal
from understudy.verify.reproducing import turns
from understudy.verify.run import Run

MOST_SENT: Final = 150
"""Requests after which no further finding of a run is repeated."""

MOST_BEFORE: Final = 24
"""Most earlier requests that are added to the steps of a finding."""


def show_again(run: Run) -> None:
    """Repeats the steps of each finding, and records in it whether they reproduce it."""
    run.gateway.budget.kept, begun = 0, run.gateway.sent
    places = [
        (record.findings, place)
        for record in run.evaluator.records.values()
        for place, finding in enumerate(record.findings)
        # limits are used up, and time passes, only at the end of a run
        if not (finding.is_note or finding.needs_time or finding.attempts > 1)
    ]
    for repeat in (_repeated, _with_earlier):  # what takes many requests comes last
        for findings, place in places:
            if run.gateway.sent - begun >= MOST_SENT:
                return
            try:
                findings[place] = repeat(run, findings[place])
            except NotPermitted as refusal:  # such as changes after an account has lost an avatar
                findings[place] = replace(findings[place], again=f"not sent again: {refusal}")
            except Refusal:
                return


_NOT_AGAIN: Final = "the same requests did not fail again"


def _repeated(run: Run, finding: Finding) -> Finding:
    if any(step.source.endswith(AT_ONCE) for step in finding.steps):
        return replace(finding, again="not sent again: a request lists items of this run")
    return replace(finding, again="failed again" if _shows(run, finding) else _NOT_AGAIN)


def _with_earlier(run: Run, finding: Finding) -> Finding:
    before = _before(run, finding) if finding.again == _NOT_AGAIN else []
    own = [it for it in before if it.path == finding.exchange.path and it.request.method in WRITES]
    tried = ((it, _preceded(run, finding, it)) for it in (own, before[-MOST_BEFORE:]) if it)
    earlier, longer = next((it for it in tried if _shows(run, it[1])), ([], finding))
    if not earlier:
        return finding
    while len(earlier) > 1:
        half = earlier[len(earlier) // 2 :]
        shorter = _preceded(run, finding, half)
        if not _shows(run, shorter):
            break
        earlier, longer = half, shorter
    return replace(longer, again="failed again with the requests before it")


def _before(run: Run, finding: Finding) -> list[Exchange]:
    """Returns the earlier requests on which a finding may rest beside its steps, oldest first."""
    numbers = {step.number for step in finding.steps}
    sources = {step.source for step in finding.steps}
    return [
        exchange
        for exchange in run.exchanges
        if exchange.number < finding.exchange.number
        and exchange.number not in numbers
        and exchange.source not in {*BOOKKEEPING, AGAIN}
        and not exchange.source.endswith(AT_ONCE)
        and (exchange.source in sources or exchange.request.method in WRITES)
    ]


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
    sent = _sent(run, finding)
    history, rule = run.evaluator.history, finding.rule.id
    if is_shown(rule, finding.steps, history):
        return is_shown(rule, sent, history)
    if rule == DOCUMENT.id:
        return any(not it.holds for _, it in run.evaluator.results(sent[-1], history, {rule}))
    # a finding of a model or of a case, which no check can judge again
    return _form(sent[-1]) == _form(finding.exchange)


def _form(exchange: Exchange) -> tuple[object, ...]:
    return exchange.status, exchange.response.media_type, sorted(exchange.json_object)


def _sent(run: Run, finding: Finding) -> list[Exchange]:
    """Sends the steps of a finding as its commands do; some at the same moment, some repeatedly."""
    gateway = run.gateway
    sent: list[Exchange] = []
    fresh: dict[str, str] = {}
    variables: dict[str, str] = {}
    issued = issued_values(finding.steps)
    for turn in turns(finding, issued):
        requests = [rewritten(finding.steps[place].request, fresh) for place in turn.places]
        values = issued.get(turn.places[0], [])
        # a creation without a response may have been carried out, so it is not sent twice
        is_creating = any(it.source == "item" for it in values)
        send = gateway.send if is_creating else gateway.send_surely
        with _creating(run, finding.steps[turn.places[0]], values, fresh):
            for _ in range(turn.times):
                exchanges = (
                    gateway.send_together(requests, AGAIN)
                    if len(requests) > 1
                    else [send(requests[0], AGAIN)]
                )
                sent += exchanges
            for one in values:
                value = issued_anew(one, exchanges[0], variables)
                if value is not None:
                    fresh[one.value] = variables[one.variable] = value
        _learn(gateway, finding.steps, fresh)
    return sent


@contextmanager
def _creating(
    run: Run, step: Exchange, values: Sequence[IssuedValue], fresh: Mapping[str, str]
) -> Iterator[None]:
    """Records meanwhile, if a step creates an item, that the new one has to be deleted.

    Args:
        run: The run.
        step: The step, as it was sent first.
        values: The values that it issued.
        fresh: The values of the earlier steps, and those issued instead; it grows meanwhile.
    """
    path = next((it.value for it in values if it.source == "item"), "")
    first = run.undo.items.creation_of(step.path, _identifier(path))
    if first is None:
        yield
        return
    pending = structs.replace(
        first,
        create=_moved(first.create, fresh),
        delete=first.delete and _moved(first.delete, fresh),
        read=first.read and _moved(first.read, fresh),
        list=first.list and _moved(first.list, fresh),
    )
    items = run.undo.items
    items.expect(pending)
    try:
        yield
    except (NotPermitted, BudgetSpent, OutOfTime):  # after other errors the item may exist
        items.forget(pending)
        raise
    if path in fresh:
        items.created(pending, _identifier(fresh[path]))
    else:
        items.forget(pending)


def _identifier(path: str) -> str:
    return unquote(path.rpartition("/")[2])


def _moved(path: str, fresh: Mapping[str, str]) -> str:
    """Returns a path below the new items instead of the earlier ones."""
    above = next((it for it in fresh if path.startswith(f"{it}/")), "")
    return path.replace(above, fresh[above], 1) if above else path


def _learn(gateway: Gateway, steps: Sequence[Exchange], fresh: Mapping[str, str]) -> None:
    """Registers the identities of new tokens with the gateway."""
    for step in steps:
        token = fresh.get(step.request.token or "")
        if token is not None:
            gateway.learn(token, step.identity)
