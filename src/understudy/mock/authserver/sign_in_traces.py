"""Traces sign-ins: from each authorization request to the first call with its token.

The journal has every step, and nobody sees which belong together: a code links the redirect with
its exchange, and a token the exchange with the calls. This follows both, judges each parameter, and
says where a sign-in stopped.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import orjson

from understudy.exchange.masking import MASK, SECRET_NAMES
from understudy.mock.authserver.client_advice import ADVICE
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.clock import written
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import APPLICATIONS, Application
from understudy.mock.store.vocabulary import vocabulary_of

_ORIGIN = (b"origin", b"sec-fetch-mode")
"""Headers that a browser sends for a script, and no server does."""


class Judged(NamedTuple):
    """A parameter, and what is to be said of it.

    Attributes:
        name: Its name.
        value: Its value; empty if it was not sent.
        verdict: Whether it is right, wrong, or could be better.
        sentence: Why.
        advice: What the client should do instead; empty where there is nothing to do.
    """

    name: str
    value: str
    verdict: Literal["right", "wrong", "advice"]
    sentence: str
    advice: str = ""


def judged_authorization(
    parameters: Mapping[str, str], application: Application | None, world: World
) -> tuple[Judged, ...]:
    """Judges the parameters of an authorization request (interface, Authorization request)."""
    return (
        _client(parameters, application),
        _redirect_uri(parameters, application),
        _response_type(parameters),
        *_scopes(parameters, world),
        _state(parameters),
        *_challenge(parameters),
    )


def _client(parameters: Mapping[str, str], application: Application | None) -> Judged:
    value = parameters.get("client_id", "")
    if application is None:
        return Judged("client_id", value, "wrong", "There is no application with this client_id.")
    return Judged("client_id", value, "right", f"This is {application.name}.")


def _redirect_uri(parameters: Mapping[str, str], application: Application | None) -> Judged:
    value = parameters.get("redirect_uri", "")
    registered = application.redirect_uris if application else ()
    if value in registered:
        return Judged("redirect_uri", value, "right", "It is registered for the application.")
    listed = ", ".join(registered) or "none"
    return Judged("redirect_uri", value, "wrong", f"It is not registered; registered: {listed}.")


def _response_type(parameters: Mapping[str, str]) -> Judged:
    value = parameters.get("response_type", "")
    if value == "code":
        return Judged("response_type", value, "right", "The code grant: a code comes back.")
    if value == "token":
        sentence = "The implicit grant: a token comes back in the fragment."
        advice = "Use the code grant with PKCE; a token in an address can leak (RFC 9700, 2.1.2)."
        return Judged("response_type", value, "advice", sentence, advice)
    return Judged("response_type", value, "wrong", "It must be code or token.")


def _scopes(parameters: Mapping[str, str], world: World) -> Iterator[Judged]:
    known = vocabulary_of(world).scope_names
    for name, value in parameters.items():
        if name == "scope" or name.startswith("scope["):
            for scope in value.split():
                is_known = scope in known
                sentence = "It is known." if is_known else f"There are {', '.join(known)}."
                yield Judged(name, scope, "right" if is_known else "wrong", sentence)


def _state(parameters: Mapping[str, str]) -> Judged:
    value = parameters.get("state", "")
    if value:
        return Judged("state", value, "right", "It comes back unchanged, to be compared.")
    return Judged("state", "", "advice", "It was not sent.", ADVICE["no-state"])


def _challenge(parameters: Mapping[str, str]) -> Iterator[Judged]:
    if parameters.get("response_type") != "code":
        return
    value = parameters.get("code_challenge", "")
    if not value:
        yield Judged("code_challenge", "", "advice", "It was not sent.", ADVICE["no-pkce"])
        return
    yield Judged("code_challenge", value, "right", "PKCE protects the code (RFC 7636).")
    method = parameters.get("code_challenge_method", "plain")
    if method == "S256":
        yield Judged("code_challenge_method", method, "right", "The challenge is a digest.")
    else:
        advice = "Send code_challenge_method=S256; a plain challenge is the verifier itself."
        yield Judged("code_challenge_method", method, "advice", "The challenge is plain.", advice)


def judged_token(
    form: Mapping[str, str], authorization: Mapping[str, str], headers: Mapping[bytes, bytes]
) -> tuple[Judged, ...]:
    """Judges the parameters of the exchange of a code (interface, Code grant).

    Args:
        form: The parameters.
        authorization: The parameters of the authorization request.
        headers: The header fields of the request.
    """
    return (
        _grant_type(form),
        Judged("code", form.get("code", ""), "right", "It is the code of this sign-in."),
        _same("client_id", form, authorization),
        _same("redirect_uri", form, authorization),
        *_secret(form, headers),
        *_verifier(form, authorization),
    )


def _grant_type(form: Mapping[str, str]) -> Judged:
    value = form.get("grant_type", "")
    if value == "authorization_code":
        return Judged("grant_type", value, "right", "A code is exchanged.")
    return Judged("grant_type", value, "wrong", "It must be authorization_code.")


def _same(name: str, form: Mapping[str, str], authorization: Mapping[str, str]) -> Judged:
    value = form.get(name, "")
    if value == authorization.get(name, ""):
        return Judged(name, value, "right", "It is that of the authorization request.")
    if name == "client_id" and not value:
        return Judged(name, value, "right", "It is not in the form; the header may have it.")
    return Judged(
        name, value, "wrong", f"The authorization request had {authorization.get(name, 'none')!r}."
    )


def _secret(form: Mapping[str, str], headers: Mapping[bytes, bytes]) -> Iterator[Judged]:
    value = form.get("client_secret", "")
    if not value:
        return
    if any(name in headers for name in _ORIGIN):
        sentence = "It was sent from a browser."
        yield Judged("client_secret", value, "advice", sentence, ADVICE["secret-in-browser"])
    else:
        yield Judged("client_secret", value, "right", "It was sent by a server.")


def _verifier(form: Mapping[str, str], authorization: Mapping[str, str]) -> Iterator[Judged]:
    value = form.get("code_verifier", "")
    if authorization.get("code_challenge") and not value:
        yield Judged("code_verifier", "", "wrong", "The challenge needs its verifier.")
    elif value:
        yield Judged("code_verifier", value, "right", "It answers the challenge.")


AUTHORIZE_PATH: Final = "/oauth2/authorize"
TOKEN_PATH: Final = "/oauth2/token"
PAGES: Final = {"/sign-in": "sign-in", "/consent": "consent"}

MOST: Final = 50
"""Sign-ins that are traced; the latest ones."""

_FIRST_ERROR = 400


def list_sign_ins(call: Call) -> HandlerResponse:
    """Responds to ``GET /sign-ins``, the latest first."""
    contexts = tuple(call.world.journal)
    starts = [
        place
        for place, context in enumerate(contexts)
        if context.path == AUTHORIZE_PATH and context.method == "GET"
    ]
    return HandlerResponse([_Trace(contexts, place).as_json() for place in starts[::-1][:MOST]])


class _Trace:
    """One sign-in.

    Args:
        contexts: The journal.
        place: The place of the authorization request in it.
    """

    def __init__(self, contexts: Sequence[RequestContext], place: int) -> None:
        self._first = contexts[place]
        self._later = contexts[place + 1 :]
        self._parameters = _pairs(self._first.query.decode("latin-1"))
        self._steps: list[dict[str, Any]] = []
        self._advice: list[str] = []
        self._stopped: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Returns the sign-in with its steps."""
        self._follow()
        world = self._first.world
        client_id = self._parameters.get("client_id", "")
        application = world.get(APPLICATIONS, client_id)
        return {
            "request": self._first.number,
            "started": written(self._first.started),
            "client_id": client_id,
            "application": application.name if application else None,
            "flow": self._parameters.get("response_type", ""),
            "steps": self._steps,
            "advice": list(dict.fromkeys(self._advice)),
            "stopped": self._stopped,
        }

    def _follow(self) -> None:
        """Follows the sign-in as far as it went."""
        first = self._first
        application = first.world.get(APPLICATIONS, self._parameters.get("client_id", ""))
        judged = judged_authorization(self._parameters, application, first.world)
        self._add(first, "authorize", judged)
        redirect = self._redirect()
        if redirect is None:
            return
        response = _response_of(_location(redirect))
        if "error" in response:
            about = response.get("error_description", "")
            self._stopped = (
                f"The application was sent back with {response['error']}. {about}".strip()
            )
            return
        token = response.get("access_token")
        if token is None:
            token = self._exchanged(response.get("code", ""))
        if token is not None:
            self._used(token)

    def _redirect(self) -> RequestContext | None:
        """Adds what the person did, and returns what redirected to the application."""
        target = self._parameters.get("redirect_uri", "")
        if _is_to(self._first, target):
            return self._first
        if self._first.status >= _FIRST_ERROR:
            self._stopped = "The request was refused with a page, as the client cannot be trusted."
            return None
        for context in self._of_browser():
            if context.path in PAGES and context.method == "POST":
                self._add(context, PAGES[context.path], ())
            if _is_to(context, target):
                if context.path == AUTHORIZE_PATH:
                    self._add(context, "authorize again", ())
                return context
        is_signed_in = any(
            step["kind"] == "sign-in" and step["status"] < _FIRST_ERROR for step in self._steps
        )
        self._stopped = (
            "The person has not decided on the consent page."
            if is_signed_in
            else "The person has not signed in and decided."
        )
        return None

    def _of_browser(self) -> Iterator[RequestContext]:
        """Yields what the same browser sent, until the person began anew."""
        browser = self._first.client, self._first.headers.get(b"user-agent")
        for context in self._later:
            if (context.client, context.headers.get(b"user-agent")) != browser:
                continue
            if context.path == AUTHORIZE_PATH and context.query != self._first.query:
                return
            yield context

    def _exchanged(self, code: str) -> str | None:
        """Adds the exchange of a code, and returns the token."""
        exchanges = [it for it in self._later if it.path == TOKEN_PATH and it.method == "POST"]
        for context in exchanges:
            form = _form(context)
            if code and form.get("code") == code:
                self._add(context, "token", judged_token(form, self._parameters, context.headers))
                content = _json(context.response_body)
                token = content.get("access_token")
                if isinstance(token, str):
                    return token
                self._stopped = f"The exchange was refused: {content.get('error', context.status)}."
        if self._stopped is None:
            self._stopped = f"The code was not exchanged. {ADVICE['code-unexchanged']}"
        return None

    def _used(self, token: str) -> None:
        """Adds the first call with the token."""
        for context in self._later:
            if context.principal is not None and context.principal.token == token:
                self._add(context, "call", ())
                return
        self._stopped = "The token was not used for a call yet."

    def _add(self, context: RequestContext, kind: str, judged: Sequence[Judged]) -> None:
        location = _location(context)
        self._steps.append(
            {
                "kind": kind,
                "request": context.number,
                "method": context.method,
                "path": context.path,
                "status": context.status,
                "location": location.partition("?")[0].partition("#")[0] or None,
                "returned": sorted(_response_of(location)),
                "parameters": [
                    it._replace(
                        value=MASK if it.name in SECRET_NAMES and it.value else it.value
                    )._asdict()
                    for it in judged
                ],
            }
        )
        self._advice += [it.advice for it in judged if it.advice]


def _is_to(context: RequestContext, redirect_uri: str) -> bool:
    return bool(redirect_uri) and _location(context).startswith(redirect_uri)


def _location(context: RequestContext) -> str:
    fields: Mapping[bytes, bytes] = dict(context.response_headers)
    return fields.get(b"location", b"").decode("latin-1")


def _response_of(location: str) -> dict[str, str]:
    """Returns the members of an authorization response, in the query or in the fragment."""
    parts = urlsplit(location)
    return {**_pairs(parts.query), **_pairs(parts.fragment)}


def _pairs(text: str) -> dict[str, str]:
    return dict(parse_qsl(text, keep_blank_values=True))


def _form(context: RequestContext) -> dict[str, str]:
    content = _json(context.body)
    if content:
        return {name: text for name, text in content.items() if isinstance(text, str)}
    return _pairs(context.body.decode("latin-1"))


def _json(body: bytes) -> dict[str, Any]:
    try:
        content = orjson.loads(body)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


HANDLERS: Handlers = {("GET", "/sign-ins"): list_sign_ins}
