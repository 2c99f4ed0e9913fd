"""Judges which of two errors of an update is refused (interface, Errors: not shown)."""

from understudy.exchange.messages import Exchange
from understudy.interface.operations import UPDATE_PROFILE
from understudy.verify.account_history import has_object, names_editable_only
from understudy.verify.checks import (
    CheckResult,
    check,
    document_allows_no_such,
    expect_status,
    is_of_test_accounts,
)
from understudy.verify.history import History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import probe
from understudy.verify.rules.bearer import (
    FORBIDDEN,
    is_oauth,
    lacks_scope_to_change,
    scopes_are_known,
)
from understudy.verify.rules.error_codes import is_one_number

NOT_PERMITTED = (is_oauth, scopes_are_known, is_of_test_accounts, lacks_scope_to_change, has_object)
INVALID = (names_editable_only, is_one_number, document_allows_no_such)
"""Conditions of an update that is refused for its value alone, which is a number."""


@check("scope-body-both-wrong", on=[UPDATE_PROFILE], when=[*NOT_PERMITTED, *INVALID])
def invalid_update_is_refused_for_the_scope(exchange: Exchange, _history: History) -> CheckResult:
    """A missing scope is what is refused, although the body is invalid too."""
    return expect_status(exchange, FORBIDDEN)


def send_number(client: ProbeClient, who: str) -> None:
    """Sends an update whose one value is a number."""
    client.send("PATCH", "/me/profile", who, json={"job_title": 7})


@probe("scope-body-both-wrong", needs=("reader", "writes"))
def invalid_update_without_scope(client: ProbeClient) -> None:
    """Sends an invalid update with a token that may only read."""
    send_number(client, "reader")
