"""Codes and tokens of every grant in any order, beside what each should be worth.

Time passes where the deployment's can be moved.
"""

from datetime import timedelta
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from understudy.interface.scopes import SCOPES
from understudy.verify.granting import (
    code,
    decide,
    form_of,
    parameters,
    password_form,
)
from understudy.verify.scenarios.machine import Machine

SPANS = st.sampled_from([timedelta(minutes=4), timedelta(hours=2), timedelta(days=8)])


class TokenLife(Machine):
    """Codes and tokens of the test account."""

    needs: ClassVar[tuple[str, ...]] = ("auth_url", "app", "tokens", "approval", "password")

    @initialize()
    def begin(self) -> None:
        """Begins with none."""
        self.codes: list[str] = []
        self.tokens: list[str] = []

    def _post(self, form: list[tuple[str, str]]) -> None:
        url = f"{self.client.target.auth_url}/oauth2/token"
        said = self.send("POST", url, form=form).json_object
        token = said.get("access_token")
        if isinstance(token, str):
            self.tokens.append(self.client.learn(token, frozenset(SCOPES[:2])))

    @rule()
    def approve_a_code(self) -> None:
        """Lets a person approve a code."""
        self.codes.append(code(self.client))

    @precondition(lambda self: self.codes)
    @rule(data=st.data())
    def exchange(self, data: st.DataObject) -> None:
        """Exchanges a code, fresh or not."""
        self._post(form_of(self.client.app, data.draw(st.sampled_from(self.codes))))

    @rule()
    def approve_a_token(self) -> None:
        """Lets a person approve a token for a browser."""
        told = decide(
            self.client, parameters(self.client.app, response_type="token")
        ).redirect_parameters
        if "access_token" in told:
            scopes = frozenset(SCOPES[:2])
            self.tokens.append(self.client.learn(told["access_token"], scopes))

    @rule()
    def use_the_password(self) -> None:
        """Uses the password grant."""
        self._post(password_form(self.client.app))

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def use(self, data: st.DataObject) -> None:
        """Reads the own profile with a token, and asks what it is worth."""
        token = data.draw(st.sampled_from(self.tokens))
        self.send("GET", "/me/profile", token)
        query = {"client_id": self.client.app.client_id, "token": token}
        self.send("GET", f"{self.client.target.auth_url}/oauth2/token-info", query=query)

    @precondition(lambda self: self.client.gateway.time.advance is not None)
    @rule(span=SPANS)
    def wait(self, span: timedelta) -> None:
        """Lets time pass."""
        self.client.advance(span)
