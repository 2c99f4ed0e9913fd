"""Judges the parameters of a traced sign-in, each with advice where a client could do better."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from understudy.mock.authserver.client_advice import ADVICE
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import Application
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
