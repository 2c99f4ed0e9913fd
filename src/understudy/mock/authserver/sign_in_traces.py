"""Traces sign-ins, from each authorization request to the first call with its token.

The journal has every step, but does not show which belong together: a code links a redirect with its
exchange, and a token the exchange with calls. A trace follows both, judges each parameter, and says
where the sign-in stopped.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import orjson

from understudy.exchange.masking import MASK, SECRET_NAMES
from understudy.mock.authserver.authorization_request import is_scope_parameter
from understudy.mock.authserver.client_advice import ADVICE
from understudy.mock.authserver.token_endpoint import AUTHORIZE, TOKEN
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.server.clock import written
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import APPLICATIONS, Application
from understudy.mock.store.vocabulary import vocabulary_of

_ORIGIN = (b"origin", b"sec-fetch-mode")
"""Headers that browsers send for a script's request, and servers do not."""

_MISSING: Final = "It was not sent."


class Judged(NamedTuple):
    """The judgement of one parameter.

    Attributes:
        name: Name of the parameter.
        value: Value of the parameter; empty if it was not sent.
        verdict: Whether the parameter is right, wrong, or could be better.
        sentence: Reason for the verdict.
        advice: Advice to the client's developer; empty for none.
    """

    name: str
    value: str
    verdict: Literal["right", "wrong", "advice"]
    sentence: str
    advice: str = ""


def _judged(name: str, value: str, right: str, fault: str, advice: str = "") -> Judged:
    """Returns a judgement: ``right`` without a fault, ``advice`` for one with advice, else ``wrong``."""
    if not fault:
        return Judged(name, value, "right", right)
    return Judged(name, value, "advice" if advice else "wrong", fault, advice)


_FLOWS: Final[Mapping[str, tuple[str, str, str]]] = {
    "code": ("The code grant: a code comes back.", "", ""),
    "token": (
        "",
        "The implicit grant: a token comes back in the fragment.",
        "Use the code grant with PKCE; a token in an address can leak (RFC 9700, 2.1.2).",
    ),
}
"""``response_type`` to the sentence for ``right``, the fault, and the advice; one of the first two is set."""


def judged_authorization(
    parameters: Mapping[str, str], application: Application | None, world: World
) -> Iterator[Judged]:
    """Judges the parameters of an authorization request (interface, Authorization request)."""
    names = ("client_id", "redirect_uri", "response_type", "state")
    client_id, uri, flow, state = (parameters.get(name, "") for name in names)
    name, registered = (application.name, application.redirect_uris) if application else ("", ())
    unknown = "" if application else "There is no application with this client_id."
    yield _judged("client_id", client_id, f"This is {name}.", unknown)
    listed = f"It is not registered; registered: {', '.join(registered) or 'none'}."
    fault = "" if uri in registered else listed
    yield _judged("redirect_uri", uri, "It is registered for the application.", fault)
    yield _judged("response_type", flow, *_FLOWS.get(flow, ("", "It must be code or token.")))
    known = vocabulary_of(world).scope_names
    for place in filter(is_scope_parameter, parameters):
        for scope in parameters[place].split():
            fault = "" if scope in known else f"There are {', '.join(known)}."
            yield _judged(place, scope, "It is known.", fault)
    right = "It comes back unchanged, to be compared."
    yield _judged("state", state, right, "" if state else _MISSING, ADVICE["no-state"])
    if flow == "code":
        yield from _challenge(parameters)


def _challenge(parameters: Mapping[str, str]) -> Iterator[Judged]:
    value = parameters.get("code_challenge", "")
    right = "PKCE protects the code (RFC 7636)."
    yield _judged("code_challenge", value, right, "" if value else _MISSING, ADVICE["no-pkce"])
    if value:
        method = parameters.get("code_challenge_method", "plain")
        fault = "" if method == "S256" else "The challenge is plain."
        advice = "Send code_challenge_method=S256; a plain challenge is the verifier itself."
        yield _judged("code_challenge_method", method, "The challenge is a digest.", fault, advice)


def judged_token(
    form: Mapping[str, str], authorization: Mapping[str, str], headers: Mapping[bytes, bytes]
) -> Iterator[Judged]:
    """Judges the parameters of the token request that exchanges a code (interface, Code grant)."""
    names = ("grant_type", "client_secret", "code_verifier")
    grant, secret, verifier = (form.get(name, "") for name in names)
    fault = "" if grant == "authorization_code" else "It must be authorization_code."
    yield _judged("grant_type", grant, "A code is exchanged.", fault)
    yield _judged("code", form.get("code", ""), "It is the code of this sign-in.", "")
    for name in ("client_id", "redirect_uri"):
        yield _repeated(name, form.get(name, ""), authorization)
    if secret:
        is_browser = any(name in headers for name in _ORIGIN)
        fault = "It was sent from a browser." if is_browser else ""
        advice = ADVICE["secret-in-browser"]
        yield _judged("client_secret", secret, "It was sent by a server.", fault, advice)
    if verifier or authorization.get("code_challenge"):
        fault = "" if verifier else "The challenge needs its verifier."
        yield _judged("code_verifier", verifier, "It answers the challenge.", fault)


def _repeated(name: str, value: str, authorization: Mapping[str, str]) -> Judged:
    if name == "client_id" and not value and authorization.get(name):
        return _judged(name, value, "It is not in the form; the header may have it.", "")
    had = authorization.get(name, "")
    fault = "" if value == had else f"The authorization request had {had or 'none'!r}."
    return _judged(name, value, "It is that of the authorization request.", fault)


PAGES: Final = {"/sign-in": "sign-in", "/consent": "consent"}

MOST: Final = 50
"""Number of the latest sign-ins that are traced."""


def list_sign_ins(call: Call) -> HandlerResponse:
    """Lists the traced sign-ins, the latest first (``GET /sign-ins``)."""
    contexts = tuple(call.world.journal)
    starts = [
        place
        for place, context in enumerate(contexts)
        if (context.method, context.path) == AUTHORIZE
    ]
    return HandlerResponse([_Trace(contexts, place).as_json() for place in starts[::-1][:MOST]])


class _Trace:
    """The trace of one sign-in.

    Args:
        contexts: Requests in the journal.
        place: Index of the authorization request in them.
    """

    def __init__(self, contexts: Sequence[RequestContext], place: int) -> None:
        self._first = contexts[place]
        self._later = contexts[place + 1 :]
        self._parameters = _pairs(self._first.query.decode("latin-1"))
        self._steps: list[dict[str, Any]] = []
        self._advice: list[str] = []
        self._stopped: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Returns the trace in the JSON of the admin API."""
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
        """Collects the steps of the sign-in, up to the first call or to where it stopped."""
        first = self._first
        application = first.world.get(APPLICATIONS, self._parameters.get("client_id", ""))
        parameters = judged_authorization(self._parameters, application, first.world)
        self._add(first, "authorize", parameters)
        redirect = self._redirect()
        if redirect is None:
            return
        response = _response_of(redirect.response_header("location") or "")
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
        """Adds the person's steps, and returns the request that redirected to the application."""
        target = self._parameters.get("redirect_uri", "")
        if _is_to(self._first, target):
            return self._first
        if self._first.status >= HTTPStatus.BAD_REQUEST:
            self._stopped = "The request was refused with a page, as the client cannot be trusted."
            return None
        for context in self._of_browser():
            if context.path in PAGES and context.method == "POST":
                self._add(context, PAGES[context.path], ())
            if _is_to(context, target):
                if context.path == AUTHORIZE[1]:
                    self._add(context, "authorize again", ())
                return context
        is_signed_in = any(
            step["kind"] == "sign-in" and step["status"] < HTTPStatus.BAD_REQUEST
            for step in self._steps
        )
        self._stopped = (
            "The person has not decided on the consent page."
            if is_signed_in
            else "The person has not signed in and decided."
        )
        return None

    def _of_browser(self) -> Iterator[RequestContext]:
        """Yields later requests of the same browser, up to another authorization request."""
        browser = self._first.client, self._first.headers.get(b"user-agent")
        for context in self._later:
            if (context.client, context.headers.get(b"user-agent")) != browser:
                continue
            if context.path == AUTHORIZE[1] and context.query != self._first.query:
                return
            yield context

    def _exchanged(self, code: str) -> str | None:
        """Adds the token request for a code, and returns the issued token, if any."""
        exchanges = [it for it in self._later if (it.method, it.path) == TOKEN]
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

    def _add(self, context: RequestContext, kind: str, judged: Iterable[Judged]) -> None:
        location, parameters = context.response_header("location") or "", tuple(judged)
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
                    for it in parameters
                ],
            }
        )
        self._advice += [it.advice for it in parameters if it.advice]


def _is_to(context: RequestContext, redirect_uri: str) -> bool:
    return bool(redirect_uri) and (context.response_header("location") or "").startswith(
        redirect_uri
    )


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
