"""Requests and uses codes and tokens of every grant in any order.

Time passes where the deployment's clock can be moved.
"""

from datetime import timedelta
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import code, decide, form_of, parameters, password_form
from understudy.verify.scenarios.machine import Machine

SPANS = st.sampled_from([timedelta(minutes=4), timedelta(hours=2), timedelta(days=8)])


class TokenLife(Machine):
    """The codes and tokens of the test account."""

    needs: ClassVar[tuple[str, ...]] = ("auth_url", "app", "tokens", "approval", "password")

    @initialize()
    def begin(self) -> None:
        """Starts without codes and tokens."""
        self.codes: list[str] = []
        self.tokens: list[str] = []

    def _post(self, form: list[tuple[str, str]]) -> None:
        url = f"{self.client.target.auth_url}/oauth2/token"
        token = self.send("POST", url, form=form).json_object.get("access_token")
        if isinstance(token, str):
            self.tokens.append(self.client.learn(token, frozenset(SCOPES[:2])))

    @rule()
    def approve_a_code(self) -> None:
        """Obtains an authorization code."""
        self.codes.append(code(self.client))

    @precondition(lambda self: self.codes)
    @rule(data=st.data())
    def exchange(self, data: st.DataObject) -> None:
        """Exchanges a code, new or used."""
        self._post(form_of(self.client.app, data.draw(st.sampled_from(self.codes))))

    @rule()
    def approve_a_token(self) -> None:
        """Obtains a token by the implicit grant."""
        redirect_parameters = decide(
            self.client, parameters(self.client.app, response_type="token")
        ).redirect_parameters
        if "access_token" in redirect_parameters:
            scopes = frozenset(SCOPES[:2])
            self.tokens.append(self.client.learn(redirect_parameters["access_token"], scopes))

    @rule()
    def use_the_password(self) -> None:
        """Obtains a token by the password grant."""
        self._post(password_form(self.client.app))

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def use(self, data: st.DataObject) -> None:
        """Reads the own profile and the token information with a token."""
        token = data.draw(st.sampled_from(self.tokens))
        self.send("GET", "/me/profile", token)
        query = {"client_id": self.client.app.client_id, "token": token}
        self.send("GET", f"{self.client.target.auth_url}/oauth2/token-info", query=query)

    @precondition(lambda self: self.client.gateway.time.advance is not None)
    @rule(span=SPANS)
    def wait(self, span: timedelta) -> None:
        """Advances the deployment's clock."""
        self.client.advance(span)
