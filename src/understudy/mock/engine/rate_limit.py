"""The step that holds the quota of the hour; ``windows`` decides."""

from understudy.errors import TooManyRequests
from understudy.mock.engine.request_context import RequestContext
from understudy.mock.engine.windows import count

ANONYMOUS = "anonymous"
"""Names everybody without a token, where limits are changed."""


def enforce_quota(context: RequestContext) -> None:
    """Counts a request of a limited operation, by principal or else by the client's address.

    Raises:
        TooManyRequests: The quota of the hour is used up.
    """
    endpoint = context.endpoint
    if endpoint is None or not endpoint.is_limited:
        return
    policies = endpoint.api.policies
    if policies.lifts_quota(context.choices):
        return
    who = context.principal.person if context.principal else f"address {context.client}"
    limits = context.world.limits
    quota = endpoint.api.quota(context.principal)
    if limits:
        quota = limits.get(who, limits.get(ANONYMOUS, quota) if not context.principal else quota)
    count_request(context, who, quota, policies.quota_advice)


def count_request(context: RequestContext, who: str, quota: int, advice: str) -> None:
    """Counts one request of a principal.

    Args:
        context: The request; gets the headers that tell what is left.
        who: The principal that is counted.
        quota: Requests an hour that it is allowed.
        advice: What the journal notes beside a 429.

    Raises:
        TooManyRequests: The quota of the hour is used up.
    """
    windows = context.world.windows
    decision, windows[who] = count(windows.get(who), context.started, quota)
    context.world.note_change()
    context.extra_headers = decision.headers
    if not decision.allowed:
        context.notes.append(advice)
        msg = "Rate limit exceeded"
        raise TooManyRequests(msg, code="rate_limit_exceeded")
