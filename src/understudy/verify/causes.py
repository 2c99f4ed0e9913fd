"""Finds the earlier requests that can have caused what a response shows.

A finding lists them beside the exchanges that its check compares, so that it can be reproduced: a
stale cache needs the earlier read that filled it, and a lost value the request that wrote it.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import SET_AVATAR, UPDATE_AVATAR, UPDATE_PROFILE
from understudy.verify.account_history import changes_in
from understudy.verify.history import WRITES, History

MOST_STEPS: Final = 8
"""Most requests for a change that a finding lists; more would hide the one that matters."""


def attempts_since(before: Exchange, history: History) -> Iterator[Exchange]:
    """Yields the requests to change a resource since an exchange, also refused, newest first."""
    for exchange in reversed(history.exchanges):
        if exchange.number <= before.number:
            return
        if exchange.site == "resource" and exchange.request.method in WRITES:
            yield exchange


def writes_since(before: Exchange, history: History) -> Iterator[Exchange]:
    """Yields the requests since an exchange that may have changed a resource, newest first."""
    for exchange in attempts_since(before, history):
        if not exchange.response.is_refusal:
            yield exchange


def latest_attempts(before: Exchange, history: History) -> Iterator[Exchange]:
    """Yields at most eight requests since an exchange that may have caused a change.

    The newest of each kind come first, so that ten requests of one kind do not hide another. Among
    these, refused requests come last: a deployment may have carried them out, but seldom does.
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
    """Returns the newest update of any avatar that set one of these members."""
    for update in history.of(UPDATE_AVATAR):
        if update.response.is_success and {*names} & {*changes_in(update)}:
            return update
    return None


def first_alike(exchange: Exchange, history: History) -> list[Exchange]:
    """Returns the earliest reads with the same content, which a cache may have kept.

    The first is of the same URL by any client, the second of any URL by the same client.
    """
    if exchange.request.method != "GET" or not exchange.response.is_success:
        return []
    body = exchange.response.body
    alike = [it for it in history.of(exchange.operation) if it.response.body == body]
    of_url = [it for it in alike if it.request.url == exchange.request.url]
    of_client = [it for it in alike if it.identity == exchange.identity]
    return [*of_url[-1:], *of_client[-1:]] or alike[-1:]  # histories are newest first


def same_request_before(
    exchange: Exchange, history: History, before: Exchange | None = None
) -> Exchange | None:
    """Returns the newest success of the same request by the same client, before some exchange."""
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
    """Returns the previous update of the same resource that set one of these members.

    Args:
        exchange: An update.
        history: The exchanges of the run.
        names: The members whose values are in question.
    """
    for earlier in history.of(exchange.operation):
        is_same = earlier.value == exchange.value and earlier.response.is_success
        is_own = earlier.identity.account == exchange.identity.account
        is_named = bool({*names} & {*changes_in(earlier)})
        if earlier.number < exchange.number and is_same and is_own and is_named:
            return earlier
    return None


def read_before_update(
    exchange: Exchange, history: History, names: Iterable[str]
) -> tuple[Exchange | None, ...]:
    """Returns the same read before the account's newest update of these members, and that update.

    A deployment that cached that read still shows the values from before the update.
    """
    for update in history.of(UPDATE_PROFILE):
        is_own = update.identity.account == exchange.identity.account
        if is_own and update.response.is_success and {*names} & {*changes_in(update)}:
            return same_request_before(exchange, history, update), update
    return ()


def assignment_before(
    image_ids: list[object], exchange: Exchange, history: History
) -> Exchange | None:
    """Returns the newest assignment of one of these avatars before an exchange, if it succeeded."""
    for earlier in history.of(SET_AVATAR):
        if earlier.number < exchange.number and earlier.value in image_ids:
            return earlier if earlier.response.is_success else None
    return None
