"""Accounts' passwords, applications, codes and tokens: what the authorization server knows.

The resource API asks it one question only: whom a bearer token stands for.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import RLock

from tests.proofs.reference.records import (
    AccessToken,
    Account,
    ApiKey,
    Application,
    AuthorizationRequest,
    Code,
    Scope,
)

CODE_LIFETIME = timedelta(minutes=10)
"""The longest that RFC 6749, 4.1.2 recommends."""
IMPLICIT_LIFETIME = timedelta(weeks=2)
"""Interface, Token grant, 2."""


class Grants:
    """Issues codes and tokens and takes them back."""

    def __init__(
        self,
        accounts: Sequence[Account],
        applications: Sequence[Application],
        bearers: Sequence[ApiKey | AccessToken],
        random: Callable[[], str],
    ) -> None:
        self._lock = RLock()
        self._accounts = {account.username: account for account in accounts}
        self._applications = {app.client_id: app for app in applications}
        self._bearers = {bearer.value: bearer for bearer in bearers}
        self._codes: dict[str, Code] = {}
        self._random = random

    def application(self, client_id: str) -> Application | None:
        """Finds an application."""
        return self._applications.get(client_id)

    def account(self, username: str) -> Account | None:
        """Finds an account by the name it signs in with."""
        return self._accounts.get(username)

    def owner(self, token: AccessToken) -> Account:
        """Returns the account that a token stands for."""
        return next(a for a in self._accounts.values() if a.user_id == token.user_id)

    def bearer(self, value: str, now: datetime) -> ApiKey | AccessToken | None:
        """Finds what a bearer token stands for, unless it has ended."""
        with self._lock:
            found = self._bearers.get(value)
            if isinstance(found, AccessToken) and found.expires and found.expires <= now:
                return None
            return found

    def issue_code(
        self,
        request: AuthorizationRequest,
        user_id: str,
        now: datetime,
        lifetime: timedelta = CODE_LIFETIME,
    ) -> Code:
        """Makes a code that one exchange may use."""
        with self._lock:
            code = Code(
                value=self._random(),
                request=request,
                user_id=user_id,
                expires=now + lifetime,
            )
            self._codes[code.value] = code
            return code

    def code(self, value: str, client_id: str, now: datetime) -> Code | None:
        """Finds an application's code if it is still good.

        A second use also ends the token of the first (RFC 6749, 4.1.2).
        """
        with self._lock:
            code = self._codes.get(value)
            if code is None or code.request.client_id != client_id:
                return None
            if code.token is not None:
                self._bearers.pop(code.token, None)
                return None
            return None if code.expires <= now else code

    def redeem(self, code: Code) -> AccessToken | None:
        """Turns a code into a token that never ends; None if another exchange came first."""
        with self._lock:
            if self._codes[code.value].token is not None:
                return None
            token = self.issue_token(code.request.client_id, code.user_id, code.request.scopes)
            self._codes[code.value] = replace(code, token=token.value)
            return token

    def issue_token(
        self,
        client_id: str,
        user_id: str,
        scopes: tuple[Scope, ...],
        expires: datetime | None = None,
    ) -> AccessToken:
        """Makes an access token."""
        with self._lock:
            token = AccessToken(
                value=self._random(),
                client_id=client_id,
                user_id=user_id,
                scopes=scopes,
                expires=expires,
            )
            self._bearers[token.value] = token
            return token
