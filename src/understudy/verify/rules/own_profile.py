"""The own profile and its e-mail addresses (interface, Authenticated own-profile operations)."""

from http import HTTPStatus

from understudy.exchange.messages import Exchange
from understudy.interface.operations import ASSOCIATED_EMAIL, OWN_PROFILE
from understudy.verify.account_history import own_hashes
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    expect,
    expect_equal,
    expect_refused,
    is_of_test_accounts,
    may_read,
    succeeded,
    tells,
    was_refused,
)
from understudy.verify.history import History, made_up_hash
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import schema_error
from understudy.verify.switches import error_form, reading
from understudy.verify.value_texts import as_json


def _hash(exchange: Exchange) -> str:
    return exchange.request.query.get("email_hash", "")


def _is_associated(exchange: Exchange, history: History) -> bool | None:
    """Returns whether the hash must be associated with the account; None if that is not known."""
    hash_, known = _hash(exchange), history.known
    is_known = history.is_made_up(hash_) or hash_ in {*known.own_hashes, *known.others_hashes}
    return hash_ in own_hashes(exchange, history) if is_known else None


is_disabled = tells(
    "the token is of the account whose profile is disabled",
    lambda it, _: it.identity.account == "disabled",
)
address_is_known = tells(
    "the hash is of an address that the target names, or is made up",
    lambda it, history: bool(_hash(it)) and _is_associated(it, history) is not None,
)
names_no_address = tells(
    "the request names no hash", lambda it, _: "email_hash" not in it.request.query
)


@check("own-profile-disabled-404", on=[OWN_PROFILE], when=[is_disabled])
def disabled_profile_is_not_found(exchange: Exchange, _history: History) -> CheckResult:
    """An account with a disabled profile gets 404 with the code ``disabled``."""
    code = exchange.json_object.get("code")
    is_right = exchange.status == HTTPStatus.NOT_FOUND and code == "disabled"
    return expect(
        is_right, "404 with the code disabled", f"status {exchange.status}, code {as_json(code)}"
    )


@check(
    "associated-email",
    on=[ASSOCIATED_EMAIL],
    when=[is_of_test_accounts, may_read, address_is_known],
)
def own_addresses_are_associated(exchange: Exchange, history: History) -> CheckResult:
    """Only the account's own addresses are associated with it."""
    wanted = _is_associated(exchange, history)
    return expect_equal(exchange.json_object.get("associated"), wanted, "associated")


@check("associated-response-members", on=[ASSOCIATED_EMAIL], when=[succeeded], is_shape=True)
def response_has_boolean(exchange: Exchange, _history: History) -> CheckResult:
    """The response has a boolean named ``associated``."""
    error = schema_error(exchange.body, "AssociatedResponse")
    return expect(not error, "a boolean named associated", error)


@probe("own-profile-disabled-404", needs=("disabled",))
def disabled_profile(client: ProbeClient) -> None:
    """Reads the own profile of an account whose profile is disabled."""
    client.get("/me/profile", "disabled")


@probe("associated-email", "associated-response-members", needs=("owner", "hashes"))
def addresses_of_account(client: ProbeClient) -> Parts:
    """Asks about every address of the account, one of the other account, and an unknown one."""
    foreign = [*client.known.others_hashes[:1], made_up_hash(3)]
    for hash_ in (*client.known.own_hashes, *foreign):
        yield client.get("/me/associated-email", "owner", {"email_hash": hash_})


@probe("associated-email", needs=("other", "other_hashes"))
def addresses_of_other_account(client: ProbeClient) -> Parts:
    """Asks, as the other account, about its own addresses and one of the test account."""
    for hash_ in (*client.known.others_hashes, *client.known.own_hashes[:1]):
        yield client.get("/me/associated-email", "other", {"email_hash": hash_})


@probe("profile-hash-is-primary", "bearer-header", needs=("other", "other_hashes"))
def own_profile_of_other_account(client: ProbeClient) -> None:
    """Reads the own profile of the second account, after that of the first."""
    if client.has("owner"):
        client.recall("/me/profile", "owner", is_lasting=True)
    client.recall("/me/profile", "other", is_lasting=True)


@probe("associated-email-hash-required", needs=("owner",))
def no_address(client: ProbeClient) -> None:
    """Asks without naming an address."""
    client.get("/me/associated-email", "owner")


reading(
    "own-profile-disabled-404", on=[OWN_PROFILE], when=[is_disabled, was_refused], read=error_form
)


# Rules that demand one outcome wherever their conditions hold.

demands(ASSOCIATED_EMAIL)(
    "associated-email-hash-required", [may_read, names_no_address], expect_refused
)
