"""Lets a single request choose the other reading of an assumption, by a header."""

from collections.abc import Callable, Mapping, Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.engine.exchange import exchange_of
from understudy.engine.sending import mock_problem, send_answer
from understudy.errors import StartupError

HEADER = b"x-mock-choose"

Choose = Callable[[Sequence[str]], Mapping[str, str]]
"""Reads ``name=option`` texts; raises StartupError for what no switch knows."""


class Choosing:
    """Reads ``X-Mock-Choose: avatar-delete-status=200, scopes=ignored``.

    Args:
        app: The next layer.
        choose: Reads the texts.
    """

    def __init__(self, app: ASGIApp, choose: Choose) -> None:
        self._app = app
        self._choose = choose

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Goes on with the choices in force for this request."""
        exchange = exchange_of(scope)
        header = exchange.headers.get(HEADER)
        if header is not None:
            texts = [text.strip() for text in header.decode("latin-1").split(",") if text.strip()]
            try:
                exchange.choices = {**exchange.choices, **self._choose(texts)}
            except StartupError as error:
                await send_answer(send, mock_problem(400, "No such choice", str(error)))
                return
        await self._app(scope, receive, send)
