"""The step that holds the quota of the hour; ``windows`` decides."""

from understudy.errors import TooManyRequests
from understudy.interface.rules import upholds
from understudy.mock.engine.request_context import RequestContext
from understudy.mock.engine.windows import count

ANONYMOUS = "anonymous"
"""Names everybody without a token, where limits are changed."""


@upholds("rate-limit-anonymous", "rate-limit-authenticated", "avatar-operations-uncounted")
def enforce_quota(context: RequestContext) -> None:
    """Counts a request of a limited operation, by principal or else by the client's address.

    Raises:
        TooManyRequests: The quota of the hour is used up.
    """
    endpoint = context.endpoint
    if endpoint is None or not endpoint.is_limited or context.choices.get("rate-limits") == "off":
        return
    who = context.principal.person if context.principal else f"address {context.client}"
    limits = context.world.limits
    quota = endpoint.api.quota(context.principal)
    if limits:
        quota = limits.get(who, limits.get(ANONYMOUS, quota) if not context.principal else quota)
    _count(context, who, quota)


@upholds("rate-limit-answer-429", "rate-limit-headers")
def _count(context: RequestContext, who: str, quota: int) -> None:
    windows = context.world.windows
    verdict, windows[who] = count(windows.get(who), context.started, quota)
    context.world.note_change()
    context.extra_headers = verdict.headers
    if not verdict.allowed:
        context.notes.append("rate limited; serve --choose rate-limits=off lifts the limits")
        msg = "Rate limit exceeded"
        raise TooManyRequests(msg, code="rate_limit_exceeded")
