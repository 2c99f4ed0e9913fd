"""Sends exchanged requests again, with the codes, tokens and identifiers that are issued this time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final
from urllib.parse import quote, quote_plus

from understudy.exchange.messages import ISSUED, Exchange, Request
from understudy.verify.gateway import Gateway
from understudy.verify.issued_values import values_in
from understudy.verify.permits import NotPermitted
from understudy.verify.run import Phase, Run
from understudy.verify.target import Target

SOURCE: Final = "replay"
"""The sender of replayed requests, for reports."""

_MOMENT: Final = timedelta(minutes=1)
"""The shortest time between two requests that passes again, where the clock can be moved."""


def replay(
    gateway: Gateway, steps: Sequence[Exchange], known: Mapping[str, str] | None = None
) -> list[Exchange]:
    """Sends the requests of exchanges again, in their order.

    Args:
        gateway: Sends them, as far as is permitted.
        steps: The exchanges.
        known: Texts that are other ones there, such as the base URL of another deployment.

    Returns:
        The new exchanges, one for each step.

    Raises:
        Refusal: A request cannot be sent.
    """
    values = dict(known or {})
    replayed: list[Exchange] = []
    for place, step in enumerate(steps):
        passed = step.at - steps[place - 1].at if place else timedelta(0)
        if passed >= _MOMENT and gateway.time.advance is not None:
            gateway.time.advance(passed)
        request = rewritten(step.request, values)
        if step.identity.name == ISSUED and request.token is not None:
            gateway.learn(request.token, step.identity)
        exchange = gateway.send(request, SOURCE)
        values |= _issued_anew(step, exchange)
        replayed.append(exchange)
    return replayed


def recorded(exchanges: Sequence[Exchange], target: Target) -> Phase:
    """Returns the phase that sends recorded requests; those that are not permitted are left out.

    Args:
        exchanges: The recorded exchanges with a deployment.
        target: The target of that deployment.
    """
    own = [each for each in exchanges if each.site != "elsewhere"]

    def phase(run: Run) -> None:
        there = run.deployment.target
        values = {target.base_url: there.base_url}
        if target.auth_url and there.auth_url:
            values[target.auth_url] = there.auth_url
        for step in own:
            try:
                values |= _issued_anew(step, *replay(run.gateway, [step], values))
            except NotPermitted as refusal:
                run.not_run.append(f"the recorded {step.operation or step.path}: {refusal}")

    return phase


def _issued_anew(step: Exchange, exchange: Exchange) -> dict[str, str]:
    """Returns what a response issued before, each with what it issues now."""
    now = {(source, name): value for source, name, value in values_in(exchange)}
    return {
        value: now[source, name]
        for source, name, value in values_in(step)
        if now.get((source, name), value) != value
    }


def rewritten(request: Request, values: Mapping[str, str]) -> Request:
    """Returns a request with texts replaced in its URL, headers and body, however they are spelt."""

    def text(whole: str) -> str:
        for before, after in values.items():
            for spell in (str, quote_plus, _quoted):
                whole = whole.replace(spell(before), spell(after))
        return whole

    body = request.body
    for before, after in values.items():
        for spell in (str, quote_plus, _quoted):
            body = body.replace(spell(before).encode(), spell(after).encode())
    headers = tuple(
        (name, str(len(body)) if name == "content-length" else text(header))
        for name, header in request.headers
    )
    return replace(request, url=text(request.url), headers=headers, body=body)


def _quoted(value: str) -> str:
    return quote(value, safe="")
