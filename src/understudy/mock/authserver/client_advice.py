"""Notes how OAuth clients could be improved, even if their requests succeed."""

from urllib.parse import parse_qs

from understudy.errors import TooManyRequests
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.windows import WINDOW
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import (
    CLIENT_ADVICE,
    CODES,
    RATE_LIMITED_CLIENTS,
    USED_SCOPES,
    ClientAdvice,
)
from understudy.mock.store.tokens import TOKENS, Token
from understudy.mock.store.vocabulary import vocabulary_of

ADVICE = {
    "code-unexchanged": "A code was never exchanged; the person signed in for nothing.",
    "no-pkce": "No code_challenge was sent; PKCE protects the code in transit (RFC 9700, 2.1.1).",
    "no-state": "No state was sent; without it anyone can log a person into another's account.",
    "rate-limit-ignored": "Requests went on after a 429; wait for the reset that its headers name.",
    "scope-unused": "More scopes were requested than were used; request fewer.",
    "secret-in-browser": "The client secret was sent from a browser, where anybody can read it.",
    "token-in-query": "A token was in a query string, which logs and Referer headers keep.",
}


def note_problem(world: World, client_id: str, problem: str, notes: list[str]) -> None:
    """Notes a problem of a client, a key of ADVICE, for the journal and for its developer."""
    notes.append(f"{client_id}: {ADVICE[problem]}")
    key = f"{client_id} {problem}"
    before = world.get(CLIENT_ADVICE, key)
    count = 1 if before is None else before.count + 1
    seen = world.clock.now()
    world.put(CLIENT_ADVICE, key, ClientAdvice(client_id, problem, ADVICE[problem], count, seen))


def observe(exchange: RequestContext) -> None:
    """Notes problems in a client's use of its tokens; called after each request."""
    if b"token=" in exchange.query and exchange.path != "/oauth2/token-info":
        _observe_query(exchange)
    principal = exchange.principal
    if principal is None:
        return
    token = exchange.world.get(TOKENS, principal.token)
    if token is None or token.client_id is None:
        return
    _observe_scopes(exchange, token)
    if exchange.status == TooManyRequests.status:
        _observe_limit(exchange, token.client_id)


def _observe_limit(exchange: RequestContext, client_id: str) -> None:
    """Notes a further 429 of a client within an hour of its first."""
    since = exchange.world.get(RATE_LIMITED_CLIENTS, client_id)
    if since is not None and exchange.started < since + WINDOW:
        note_problem(exchange.world, client_id, "rate-limit-ignored", exchange.notes)
    else:
        exchange.world.put(RATE_LIMITED_CLIENTS, client_id, exchange.started)


def _observe_query(exchange: RequestContext) -> None:
    texts = parse_qs(exchange.query.decode("latin-1"))
    for value in (*texts.get("access_token", ()), *texts.get("token", ())):
        token = exchange.world.get(TOKENS, value)
        if token is not None and token.client_id is not None:
            note_problem(exchange.world, token.client_id, "token-in-query", exchange.notes)


def _observe_scopes(exchange: RequestContext, token: Token) -> None:
    needed = exchange.endpoint.access.scopes if exchange.endpoint else None
    used = exchange.world.get(USED_SCOPES, token.token)
    if used is None or (needed and not needed <= used):
        both = (used or frozenset()) | (needed or frozenset())
        exchange.world.put(USED_SCOPES, token.token, both)


def advice_for(world: World, client_id: str) -> list[ClientAdvice]:
    """Returns the advice on a client, including codes that expired unexchanged."""
    noted = [advice for _, advice in world.items(CLIENT_ADVICE) if advice.client_id == client_id]
    now = world.clock.now()
    expired = [
        code
        for _, code in world.items(CODES)
        if code.client_id == client_id and code.expires <= now
    ]
    if expired:
        last = max(code.expires for code in expired)
        text = ADVICE["code-unexchanged"]
        noted.append(ClientAdvice(client_id, "code-unexchanged", text, len(expired), last))
    unused = _unused_scopes(world, client_id)
    if unused:
        text = f"{ADVICE['scope-unused']} Unused: {', '.join(sorted(unused))}."
        noted.append(ClientAdvice(client_id, "scope-unused", text, len(unused), now))
    return sorted(noted, key=lambda advice: advice.problem)


def _unused_scopes(world: World, client_id: str) -> set[str]:
    """Returns the scopes that a client was granted and never used; empty if it used no token yet."""
    tokens = [token for _, token in world.items(TOKENS) if token.client_id == client_id]
    uses = [world.get(USED_SCOPES, token.token) for token in tokens]
    used = {scope for use in uses if use is not None for scope in use}
    if not any(use is not None for use in uses):
        return set()
    auth = vocabulary_of(world).scopes.auth
    return {scope for token in tokens for scope in token.scopes} - used - {auth}
