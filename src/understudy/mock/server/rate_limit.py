"""Applies the quota of the hour to a request; ``windows`` decides."""

from understudy.errors import Headers, TooManyRequests
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.windows import LIMIT_HEADER, WINDOW, QuotaDecision, count

ANONYMOUS = "anonymous"
"""Names everybody without a token, where limits are changed."""

WARNING_HEADER = "x-mock-rate-limit"


def enforce_quota(context: RequestContext) -> None:
    """Counts a request of a limited operation, by principal or else by the client's address.

    Raises:
        TooManyRequests: The quota of the hour is used up.
    """
    endpoint = context.endpoint
    if endpoint is None or not endpoint.is_limited:
        return
    policies, choices = endpoint.api.policies, context.choices
    if choices and policies.lifts_quota(choices):
        return
    who = context.principal.person if context.principal else f"address {context.client}"
    limits = context.world.limits
    quota = endpoint.api.quota(context.principal)
    if limits:
        quota = limits.get(who, limits.get(ANONYMOUS, quota) if not context.principal else quota)
    decision = count_request(context, who, quota)
    if decision.allowed:
        return
    if choices and policies.warns_of_quota(choices):
        _warn(context, who, decision)
        return
    principal = context.principal.person if context.principal else ANONYMOUS
    msg = (
        f"Rate limit exceeded: {_used_up(decision)}. Reset the count with curl -X DELETE "
        f"{context.site_url}/__admin/limits/{principal}, or {policies.quota_advice}."
    )
    context.notes.append(msg)
    raise TooManyRequests(msg, code="rate_limit_exceeded")


def count_request(context: RequestContext, who: str, quota: int) -> QuotaDecision:
    """Counts one request of a principal, and adds the headers with the remaining quota.

    Args:
        context: The request.
        who: The principal that is counted.
        quota: Requests an hour that it is allowed.
    """
    world, endpoint, choices = context.world, context.endpoint, context.choices
    is_aligned = False
    if choices and endpoint is not None:
        is_aligned = endpoint.api.policies.aligns_windows(choices)
    opened = world.windows.get(who)
    decision, window = count(opened, context.started, quota, is_aligned=is_aligned)
    dropped = world.windows.keep(who, window)
    if world.store is not None:
        world.store.windows_changed(world, (who, *dropped))
    context.extra_headers = decision.headers
    return decision


def sent_headers(context: RequestContext, status: int, headers: Headers) -> Headers:
    """Returns headers by the names that were chosen, or else as the document declares them."""
    endpoint = context.endpoint
    if endpoint is None:
        return headers
    chosen = endpoint.api.policies.limit_headers(context.choices) if context.choices else ""
    declared = endpoint.headers.sent(status, headers, lambda: _whole_quota(context, endpoint))
    if not chosen:
        return declared
    return (
        *(
            (f"{chosen}-{name.removeprefix(LIMIT_HEADER)}", value)
            if name.startswith(LIMIT_HEADER)
            else renamed
            for (name, value), renamed in zip(headers, declared, strict=False)
        ),
        *declared[len(headers) :],
    )


def _whole_quota(context: RequestContext, endpoint: Endpoint) -> Headers:
    """Returns the headers of a quota that this request is not counted by."""
    quota = endpoint.api.quota(context.principal)
    return QuotaDecision(
        allowed=True, limit=quota, remaining=quota, reset=context.started + WINDOW
    ).headers


def _warn(context: RequestContext, who: str, decision: QuotaDecision) -> None:
    """Counts on, and says once a window that the service would respond with 429 from here on."""
    world = context.world
    window = world.windows[who]
    world.windows[who] = window._replace(used=window.used + 1)
    if window.used > decision.limit:
        return
    context.notes.append(f"the service would respond with 429 from here on: {_used_up(decision)}")
    context.extra_headers = (*context.extra_headers, (WARNING_HEADER, "429 from here on"))


def _used_up(decision: QuotaDecision) -> str:
    return f"{decision.limit:,} requests an hour are used up until {decision.reset:%H:%M:%S} UTC"
