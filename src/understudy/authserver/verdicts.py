"""Verdicts on clients: what one did badly, even where it worked."""

from understudy.engine.worlds import World
from understudy.records.applications import CODES, VERDICTS, Verdict

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
    before = world.get(VERDICTS, key)
    count = 1 if before is None else before.count + 1
    seen = world.clock.now()
    world.put(VERDICTS, key, Verdict(client_id, fault, ADVICE[fault], count, seen))


def verdicts(world: World, client_id: str) -> list[Verdict]:
    """Returns every verdict on a client, codes that ended unexchanged among them."""
    found = [verdict for _, verdict in world.items(VERDICTS) if verdict.client_id == client_id]
    now = world.clock.now()
    wasted = [
        code
        for _, code in world.items(CODES)
        if code.client_id == client_id and code.token is None and code.expires <= now
    ]
    if wasted:
        last = max(code.expires for code in wasted)
        advice = ADVICE["code-unexchanged"]
        found.append(Verdict(client_id, "code-unexchanged", advice, len(wasted), last))
    return sorted(found, key=lambda verdict: verdict.fault)
