"""Lets a single request choose options of switches, by a header."""

from collections.abc import Callable, Mapping, Sequence

from understudy.errors import MockRefusal, StartupError
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.steps import Step

HEADER = b"x-mock-choose"

Choose = Callable[[Sequence[str]], Mapping[str, str]]
"""Reads ``name=option`` texts; raises StartupError for an unknown switch or option."""


def choosing(choose: Choose) -> Step:
    """Returns the step that reads ``X-Mock-Choose: avatar-delete-status=200, scopes=ignored``.

    Args:
        choose: Reads the texts.
    """

    def take_choices(context: RequestContext) -> None:
        header = context.headers.get(HEADER)
        if header is None:
            return
        texts = [text.strip() for text in header.decode("latin-1").split(",") if text.strip()]
        try:
            context.choices = {**context.choices, **choose(texts)}
        except StartupError as error:
            raise MockRefusal(400, "No such choice", str(error)) from error

    return take_choices
