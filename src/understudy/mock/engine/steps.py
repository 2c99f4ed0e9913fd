"""Steps that a request takes on its way: functions that look at the exchange, or refuse it."""

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.mock.engine.request_context import RequestContext, context_of

Step = Callable[[RequestContext], None]
"""Adds to the exchange what it finds out; raises a Problem to refuse."""


class Steps:
    """Takes steps in their order, and goes on.

    Args:
        app: The next layer.
        steps: What to do first.
    """

    def __init__(self, app: ASGIApp, *steps: Step) -> None:
        self._app = app
        self._steps = steps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Goes on, unless a step refuses.

        Raises:
            Problem: A step refused.
        """
        context = context_of(scope)
        for step in self._steps:
            step(context)
        await self._app(scope, receive, send)
