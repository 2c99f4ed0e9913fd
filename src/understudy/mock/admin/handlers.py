"""Collects every handler of the admin API for one mock."""

from functools import partial

from understudy.mock.admin import (
    capsules,
    clock,
    events,
    exercised,
    faults,
    limits,
    people,
    requests,
    sending,
    worlds,
)
from understudy.mock.admin.context import AdminContext, AdminHandlers
from understudy.mock.server import guards
from understudy.mock.server.call import Handlers
from understudy.mock.server.callbacks import Callbacks

_OF_WORLDS: tuple[Handlers, ...] = (
    *(guards.HANDLERS, clock.HANDLERS, capsules.HANDLERS, faults.HANDLERS),
    *(limits.HANDLERS, people.HANDLERS, requests.HANDLERS),
)
"""Handlers that need only the call."""

_OF_MOCK: tuple[AdminHandlers, ...] = (
    *(capsules.ADMIN_HANDLERS, sending.ADMIN_HANDLERS, events.ADMIN_HANDLERS),
    *(exercised.ADMIN_HANDLERS, faults.ADMIN_HANDLERS, limits.ADMIN_HANDLERS),
    *(requests.ADMIN_HANDLERS, worlds.ADMIN_HANDLERS),
)


def handlers(admin: AdminContext, callbacks: Callbacks) -> Handlers:
    """Returns the handlers of the admin API, by method and path."""
    own = {key: handler for named in _OF_WORLDS for key, handler in named.items()}
    others = (it for named in _OF_MOCK for it in named.items())
    sent = {key: partial(handler, callbacks) for key, handler in sending.OF_CALLBACKS.items()}
    return own | sent | {key: partial(handler, admin) for key, handler in others}
