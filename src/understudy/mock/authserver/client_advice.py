"""Verdicts on clients: what one did badly, even where it worked."""

from urllib.parse import parse_qs

from understudy.errors import TooManyRequests
from understudy.mock.authserver.requested_scopes import AUTH
from understudy.mock.engine.request_context import RequestContext
from understudy.mock.engine.windows import WINDOW
from understudy.mock.engine.worlds import World
from understudy.mock.store.applications import CLIENT_ADVICE, CODES, USED_SCOPES, ClientAdvice
from understudy.mock.store.attempts import RATE_LIMITED_CLIENTS
from understudy.mock.store.tokens import TOKENS, Token

ADVICE = {
    "code-unexchanged": "A code was never exchanged; the person came back for nothing.",
    "no-pkce": "No code_challenge was sent; PKCE protects the code on its way (RFC 9700, 2.1.1).",
    "no-state": "No state was sent; without it anyone can log a person into another's account.",
    "rate-limit-ignored": "Requests went on after a 429; wait for X-RateLimit-Reset.",
    "scope-unused": "More scopes were asked for than were used; ask for less.",
    "secret-in-browser": "The secret was sent from a browser, where everybody can read it.",
    "token-in-query": "A token stood in a query, where logs and referrers keep it.",
}


def note(world: World, client_id: str, fault: str, notes: list[str]) -> None:
    """Notes a fault of a client, for the journal and for its developer.

    Args:
        world: Where it happened.
        client_id: Who did it.
        fault: A key of ADVICE.
        notes: The journal's remarks on the exchange.
    """
    notes.append(f"{client_id}: {ADVICE[fault]}")
    key = f"{client_id} {fault}"
    before = world.get(CLIENT_ADVICE, key)
    count = 1 if before is None else before.count + 1
    seen = world.clock.now()
    world.put(CLIENT_ADVICE, key, ClientAdvice(client_id, fault, ADVICE[fault], count, seen))


def witness(exchange: RequestContext) -> None:
    """Watches what a client does with its tokens, exchange by exchange."""
    if b"token=" in exchange.query and exchange.path != "/oauth2/token-info":
        _witness_query(exchange)
    principal = exchange.principal
    if principal is None:
        return
    token = exchange.world.get(TOKENS, principal.token)
    if token is None or token.client_id is None:
        return
    _witness_scopes(exchange, token)
    if exchange.status == TooManyRequests.status:
        _witness_limit(exchange, token.client_id)


def _witness_limit(exchange: RequestContext, client_id: str) -> None:
    """Notes a client that goes on within the hour in which it was refused."""
    since = exchange.world.get(RATE_LIMITED_CLIENTS, client_id)
    if since is not None and exchange.started < since + WINDOW:
        note(exchange.world, client_id, "rate-limit-ignored", exchange.notes)
    else:
        exchange.world.put(RATE_LIMITED_CLIENTS, client_id, exchange.started)


def _witness_query(exchange: RequestContext) -> None:
    texts = parse_qs(exchange.query.decode("latin-1"))
    for given in (*texts.get("access_token", ()), *texts.get("token", ())):
        token = exchange.world.get(TOKENS, given)
        if token is not None and token.client_id is not None:
            note(exchange.world, token.client_id, "token-in-query", exchange.notes)


def _witness_scopes(exchange: RequestContext, token: Token) -> None:
    needed = exchange.endpoint.access.scopes if exchange.endpoint else None
    used = exchange.world.get(USED_SCOPES, token.token)
    if used is None or (needed and not needed <= used):
        both = (used or frozenset()) | (needed or frozenset())
        exchange.world.put(USED_SCOPES, token.token, both)


def verdicts(world: World, client_id: str) -> list[ClientAdvice]:
    """Returns every verdict on a client, codes that ended unexchanged among them."""
    found = [verdict for _, verdict in world.items(CLIENT_ADVICE) if verdict.client_id == client_id]
    now = world.clock.now()
    wasted = [
        code
        for _, code in world.items(CODES)
        if code.client_id == client_id and code.expires <= now
    ]
    if wasted:
        last = max(code.expires for code in wasted)
        advice = ADVICE["code-unexchanged"]
        found.append(ClientAdvice(client_id, "code-unexchanged", advice, len(wasted), last))
    unused = _unused_scopes(world, client_id)
    if unused:
        advice = f"{ADVICE['scope-unused']} Unused: {', '.join(sorted(unused))}."
        found.append(ClientAdvice(client_id, "scope-unused", advice, len(unused), now))
    return sorted(found, key=lambda verdict: verdict.fault)


def _unused_scopes(world: World, client_id: str) -> set[str]:
    """Returns what a client was granted and never needed, once it has used a token at all."""
    tokens = [token for _, token in world.items(TOKENS) if token.client_id == client_id]
    uses = [world.get(USED_SCOPES, token.token) for token in tokens]
    used = {scope for use in uses if use is not None for scope in use}
    if not any(use is not None for use in uses):
        return set()
    return {scope for token in tokens for scope in token.scopes} - used - {AUTH}
