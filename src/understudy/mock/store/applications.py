"""Defines the records of the authorization server: applications, codes, consents and sessions."""

from typing import Literal

from msgspec import Struct

from understudy.limits import Count
from understudy.mock.server.clock import Instant
from understudy.mock.server.worlds import Collection


class Application(Struct, frozen=True, forbid_unknown_fields=True):
    """A client, as the developer dashboard registers it (interface, What the service does).

    Attributes:
        client_id: Identifies the client.
        client_secret: Authenticates the client at the token endpoint.
        name: The name that the consent page shows.
        owner: Slug of the person who registered it.
        redirect_uris: The registered redirect URIs; compared exactly.
        about: Purpose of the fixture.
    """

    client_id: str
    client_secret: str
    name: str
    owner: str
    redirect_uris: tuple[str, ...] = ()
    about: str = ""


class AuthorizationCode(Struct, frozen=True):
    """A code that waits for its exchange (interface, Code grant; RFC 6749, 4.1.2).

    Attributes:
        code: The code itself.
        client_id: Whom it was given to.
        redirect_uri: Of the authorization request; the exchange must repeat it.
        person: Slug of who approved.
        scopes: What was approved.
        expires: When it expires.
        challenge: The PKCE challenge, where one was sent (RFC 7636, 4.3).
        challenge_method: ``S256`` or ``plain``.
        token: The token that it was exchanged for; None until then.
    """

    code: str
    client_id: str
    redirect_uri: str
    person: str
    scopes: tuple[str, ...]
    expires: Instant
    challenge: str | None = None
    challenge_method: Literal["S256", "plain"] = "plain"
    token: str | None = None


class Session(Struct, frozen=True):
    """A browser at the authorization server.

    Attributes:
        key: The cookie's value.
        csrf: What each form must send back.
        person: Slug of who signed in; None: nobody has signed in yet.
        secrets: What the next page shows once, by name.
    """

    key: str
    csrf: str
    person: str | None = None
    secrets: dict[str, str] = {}


class Consent(Struct, frozen=True):
    """A consent page that waits for the person's decision, which is accepted once.

    Attributes:
        session: Key of the session it was shown in.
        query: The query of the authorization request, unchanged.
    """

    session: str
    query: bytes


class ClientAdvice(Struct, frozen=True):
    """Advice on a client's behaviour, even where its requests succeeded.

    Attributes:
        client_id: Who did it.
        problem: Its name, such as ``no-state``.
        advice: What to do instead.
        count: How often it was seen.
        seen: When last.
    """

    client_id: str
    problem: str
    advice: str
    count: Count
    seen: Instant


APPLICATIONS: Collection[Application] = Collection("applications", Application)
"""client_id to application."""

CODES: Collection[AuthorizationCode] = Collection("codes", AuthorizationCode, is_transient=True)
"""Code to its record, until it is exchanged."""

SPENT_CODES: Collection[AuthorizationCode] = Collection(
    "spent_codes", AuthorizationCode, is_transient=True
)
"""Code to its record, in the order of their exchange, so that a second exchange is detected."""

SESSIONS: Collection[Session] = Collection("sessions", Session, is_transient=True)
"""Cookie value to session."""

USED_SCOPES: Collection[frozenset[str]] = Collection(
    "used_scopes", frozenset[str], is_transient=True
)
"""Access token to the scopes that its calls have needed so far."""

CONSENTS: Collection[Consent] = Collection("consents", Consent, is_transient=True)
"""Consent pages by the secret that the page's form sends back."""

CLIENT_ADVICE: Collection[ClientAdvice] = Collection(
    "client_advice", ClientAdvice, is_transient=True
)
"""client_id, a space and the problem to the advice."""
