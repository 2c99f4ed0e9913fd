"""Lets a mock sign people in while the deployment's authorization server does not respond.

Codes and tokens go back to who issued them: a code of the mock is exchanged at the mock, and a token
of the mock is used there, also once the deployment responds again.
"""

import re
from typing import Final
from urllib.parse import parse_qs

from understudy.interface.operations import AUTHORIZE, TOKEN, TOKEN_INFO
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import APPLICATIONS, CODES, SESSIONS, Application
from understudy.mock.store.browser_sessions import COOKIE
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.tokens import TOKENS
from understudy.record.header_fields import field
from understudy.record.messages import ProxiedRequest

_PAGES: Final = re.compile(r"/(sign-in|consent|static/.+|avatar/[0-9a-f]+)")
_SESSION: Final = re.compile(rf"(?:^|;\s*){COOKIE}=([^;]+)")


class StandInSignIn:
    """The sign-in at a mock.

    Args:
        world: The world of the mock.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    def has_issued(self, token: str | None) -> bool:
        """Tells whether the mock has issued a token; those of the deployment have no application."""
        record = None if token is None else self._world.get(TOKENS, token)
        return record is not None and record.client_id is not None

    async def responds_to(self, request: ProxiedRequest, operation: str | None) -> bool:
        """Tells whether a request continues what was begun at the mock."""
        if operation == TOKEN:
            if self._is_unused:
                return False
            await request.receive_small_form()
            form = parse_qs(request.captured.content.decode("latin-1"))
            (code,) = form.get("code", [""])[:1]
            return self._world.get(CODES, code) is not None
        if operation == TOKEN_INFO:
            return self.has_issued(_query(request).get("token"))
        if operation == AUTHORIZE or _PAGES.fullmatch(request.path) is None:
            return False
        session = _SESSION.search(field(request.fields, b"cookie"))
        return session is not None and self._world.get(SESSIONS, session[1]) is not None

    def can_begin(self, request: ProxiedRequest, operation: str | None) -> bool:
        """Tells whether the mock can show a page, where the deployment does not."""
        return operation == AUTHORIZE or _PAGES.fullmatch(request.path) is not None

    def admit(self, request: ProxiedRequest, operation: str | None) -> None:
        """Takes an application as it presents itself: only the deployment knows which there are."""
        if operation == AUTHORIZE:
            query = _query(request)
            self._put(query.get("client_id"), redirect=query.get("redirect_uri"))
        elif operation == TOKEN:
            form = parse_qs(request.captured.content.decode("latin-1"))
            secret = form.get("client_secret", [None])[0]
            self._put(form.get("client_id", [None])[0], secret=secret)

    def _put(
        self, client: str | None, *, redirect: str | None = None, secret: str | None = None
    ) -> None:
        if client is None:
            return
        known = self._world.get(APPLICATIONS, client)
        redirects = () if known is None else known.redirect_uris
        if redirect is not None and redirect not in redirects:
            redirects = (*redirects, redirect)
        owner = next(iter(self._world.keys(PEOPLE)))
        kept = "" if known is None else known.client_secret
        application = Application(client, secret or kept, client, owner, redirects)
        self._world.put(APPLICATIONS, client, application)

    @property
    def _is_unused(self) -> bool:
        return next(iter(self._world.keys(CODES)), None) is None


def _query(request: ProxiedRequest) -> dict[str, str]:
    query = request.target.partition(b"?")[2].decode("latin-1")
    return {name: values[0] for name, values in parse_qs(query).items()}
