"""Finds the earlier requests that can have caused what a response shows.

They are the evidence of a finding beside what a check compares: a cache shows itself only where the
same was read before, and a lost value only where it was written before.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import SET_AVATAR, UPDATE_AVATAR, UPDATE_PROFILE
from understudy.verify.account_history import changes_in
from understudy.verify.history import WRITES, History

MOST_STEPS: Final = 8
"""Attempts at a change that a finding shows; more would hide the one that matters."""


def attempts_since(before: Exchange, history: History) -> Iterator[Exchange]:
    """Yields every request to change a resource since an exchange, the refused ones too."""
    for exchange in reversed(history.exchanges):
        if exchange.number <= before.number:
            return
        if exchange.site == "resource" and exchange.request.method in WRITES:
            yield exchange


def writes_since(before: Exchange, history: History) -> Iterator[Exchange]:
    """Yields what may have changed a resource since an exchange."""
    for exchange in attempts_since(before, history):
        if not exchange.response.is_refusal:
            yield exchange


def latest_attempts(before: Exchange, history: History) -> Iterator[Exchange]:
    """Yields what may have caused a change since an exchange: at most eight attempts at one.

    The newest of each kind come before others: what was done ten times hides what was done once.
    What a test account was refused may have been carried out all the same, but seldom was.
    """
    kinds: dict[object, Exchange] = {}
    others = []
    for attempt in attempts_since(before, history):
        is_refused = attempt.response.is_refusal
        kind = (is_refused, attempt.operation, attempt.identity.account)
        if attempt.identity.account is None or kind in kinds:
            others.append(attempt)
        else:
            kinds[kind] = attempt
    newest = sorted(kinds.values(), key=lambda attempt: attempt.response.is_refusal)
    return islice((*newest, *others), MOST_STEPS)


def update_of_member(names: Iterable[str], history: History) -> Exchange | None:
    """Returns the newest update of any avatar that set one of some members."""
    for update in history.of(UPDATE_AVATAR):
        body = update.request.json
        if update.response.is_success and isinstance(body, dict) and {*names} & {*body}:
            return update
    return None


def first_alike(exchange: Exchange, history: History) -> list[Exchange]:
    """Returns the first reads that got the same content, which a cache may have kept.

    One is of the same address, whoever asked; one by the same caller, whatever it asked.
    """
    if exchange.request.method != "GET" or not exchange.response.is_success:
        return []
    body = exchange.response.body
    alike = [each for each in history.of(exchange.operation) if each.response.body == body]
    same = [each for each in alike if each.request.url == exchange.request.url]
    own = [each for each in alike if each.identity == exchange.identity]
    return [*same[-1:], *own[-1:]] or alike[-1:]


def same_request_before(
    exchange: Exchange, history: History, before: Exchange | None = None
) -> Exchange | None:
    """Returns the newest success of the same request by the same client, before another exchange."""
    for earlier in history.of(exchange.operation):
        is_earlier = before is None or earlier.number < before.number
        is_same = earlier.request.url == exchange.request.url
        is_own = earlier.identity == exchange.identity and earlier.response.is_success
        if is_earlier and is_same and is_own:
            return earlier
    return None


def read_by_other(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest success of the same request by another account."""
    for earlier in history.of(exchange.operation):
        is_same = earlier.request.url == exchange.request.url and earlier.response.is_success
        if is_same and earlier.identity.account != exchange.identity.account:
            return earlier
    return None


def update_before(exchange: Exchange, history: History, names: Iterable[str]) -> Exchange | None:
    """Returns the newest update of a resource that set one of some members, before another one.

    Args:
        exchange: An update.
        history: What was exchanged before.
        names: The members whose values are in question.
    """
    for earlier in history.of(exchange.operation):
        is_same = earlier.value == exchange.value and earlier.response.is_success
        is_own = earlier.identity.account == exchange.identity.account
        body = earlier.request.json if isinstance(earlier.request.json, dict) else {}
        if earlier.number < exchange.number and is_same and is_own and {*names} & {*body}:
            return earlier
    return None


def read_before_update(
    exchange: Exchange, history: History, names: Iterable[str]
) -> tuple[Exchange | None, ...]:
    """Returns the newest own update of one of some members, and the same read before it.

    A deployment that caches what it showed then shows the values of then.
    """
    for update in history.of(UPDATE_PROFILE):
        is_own = update.identity.account == exchange.identity.account
        if is_own and update.response.is_success and {*names} & {*changes_in(update)}:
            return same_request_before(exchange, history, update), update
    return ()


def assignment_before(
    image_ids: list[object], exchange: Exchange, history: History
) -> Exchange | None:
    """Returns the newest assignment of one of some avatars before an exchange."""
    for earlier in history.of(SET_AVATAR):
        if earlier.number < exchange.number and earlier.value in image_ids:
            return earlier if earlier.response.is_success else None
    return None
