"""Middleware made of steps: functions that read the request context, or refuse the request."""

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.mock.server.request_context import RequestContext, context_of

Step = Callable[[RequestContext], None]
"""Adds what it learns to the request context; raises a Problem to refuse the request."""


class Steps:
    """Runs steps in their order, then calls the next layer.

    Args:
        app: The next layer.
        steps: The functions to run first.
    """

    def __init__(self, app: ASGIApp, *steps: Step) -> None:
        self._app = app
        self._steps = steps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Calls the next layer, unless a step refuses the request.

        Raises:
            Problem: A step refused.
        """
        context = context_of(scope)
        for step in self._steps:
            step(context)
        await self._app(scope, receive, send)
