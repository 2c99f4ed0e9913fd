"""Rating and text alternative of an avatar (interface, Authenticated avatar operations)."""

from understudy.exchange.messages import Exchange
from understudy.interface.operations import LIST_AVATARS, UPDATE_AVATAR
from understudy.verify.account_history import (
    MEMBERS,
    avatar_in,
    is_live,
    is_sound_update,
    last_mention,
)
from understudy.verify.causes import update_before
from understudy.verify.checks import (
    CheckResult,
    check,
    document_allows,
    expect,
    expect_refused,
    may_manage,
    proven,
)
from understudy.verify.history import History
from understudy.verify.pictures import an_avatar, avatars
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.value_texts import as_json, as_pairs, differing_pairs


def _kept(exchange: Exchange) -> list[str]:
    return [name for name in MEMBERS if name not in exchange.request.json]


def keeps_a_member(exchange: Exchange, _history: History) -> bool:
    """Tells whether the update leaves rating or text alternative as it was."""
    return bool(_kept(exchange))


def changes_a_member(exchange: Exchange, _history: History) -> bool:
    """Tells whether the update names rating or text alternative."""
    return bool(exchange.request.json)


def changes_nothing(exchange: Exchange, history: History) -> bool:
    """Tells whether the update names nothing."""
    return not changes_a_member(exchange, history)


def avatar_was_seen(exchange: Exchange, history: History) -> bool:
    """Tells whether an earlier response mentions the avatar."""
    return last_mention(exchange, history) is not None


def has_unknown_member(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body has a member beside rating and text alternative."""
    body = exchange.request.json
    return isinstance(body, dict) and not set(body) <= set(MEMBERS)


def last_update(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the account's newest successful update of an avatar."""
    return history.last(UPDATE_AVATAR, account=exchange.identity.account)


def lists_updated_avatar(exchange: Exchange, history: History) -> bool:
    """Tells whether the list mentions the avatar that was updated last."""
    before = last_update(exchange, history)
    return before is not None and bool(avatar_in(exchange, before.value))


_SOUND = (may_manage, is_live, is_sound_update, document_allows)


@check("avatar-patch-rating-and-alt-text", on=[UPDATE_AVATAR], when=_SOUND)
def update_is_carried_out(exchange: Exchange, history: History) -> CheckResult:
    """An update returns the avatar with the requested values."""
    wanted, returned = exchange.request.json, exchange.json_object
    wrong = {name: returned.get(name) for name in wanted if returned.get(name) != wanted[name]}
    is_right = exchange.response.is_success and not wrong
    return expect(
        is_right,
        f"an avatar with {as_json(wanted)}",
        f"status {exchange.status}, {as_json(wrong)}",
        update_before(exchange, history, wanted),
    )


@check("avatar-patch-rating-and-alt-text", on=[LIST_AVATARS], when=[lists_updated_avatar])
def update_is_listed(exchange: Exchange, history: History) -> CheckResult:
    """The list has what the last update returned."""
    before = proven(last_update(exchange, history))
    listed = avatar_in(exchange, before.value)
    returned = before.json_object
    differing = differing_pairs(returned, listed, MEMBERS)
    actual = as_pairs(differing, "returned", "listed")
    return expect(not differing, "what the update returned", actual, before)


@check(
    "avatar-patch-partial",
    on=[UPDATE_AVATAR],
    when=[*_SOUND, changes_a_member, keeps_a_member, avatar_was_seen],
)
def update_keeps_other_members(exchange: Exchange, history: History) -> CheckResult:
    """An update keeps what it does not name (RFC 5789, 2)."""
    return _expect_kept(exchange, history)


@check(
    "avatar-patch-partial",
    on=[UPDATE_AVATAR],
    when=[*_SOUND, changes_nothing, avatar_was_seen],
    is_choice=True,
)
def update_of_nothing_succeeds(exchange: Exchange, history: History) -> CheckResult:
    """An update that names nothing succeeds, and changes nothing."""
    return _expect_kept(exchange, history)


def _expect_kept(exchange: Exchange, history: History) -> CheckResult:
    before, kept = proven(last_mention(exchange, history)), _kept(exchange)
    known = avatar_in(before, exchange.value)
    changed = [name for name in kept if exchange.json_object.get(name) != known.get(name)]
    is_right = exchange.response.is_success and not changed
    return expect(
        is_right,
        f"{as_json(kept)} as before",
        f"status {exchange.status}, {as_json(changed)}",
        before,
        update_before(exchange, history, kept),
    )


@check("avatar-patch-members", on=[UPDATE_AVATAR], when=[has_unknown_member, may_manage, is_live])
def unknown_member_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """An update of anything but rating and text alternative is refused."""
    return expect_refused(exchange)


@probe(
    *("avatar-patch-rating-and-alt-text", "avatar-patch-partial", "avatar-patch-members"),
    *("avatar-members", "rating-values", "updated-date-utc", "error-unknown-member"),
    needs=("owner", "writes", "uploads"),
)
def updates_of_avatar(client: ProbeClient) -> Parts:
    """Changes rating and text alternative alone and together, and reads them back."""
    path = f"/me/avatars/{an_avatar(client)}"
    yield client.send("PATCH", path, "owner", json={"alt_text": "An understudy"})
    for change in (
        {"rating": "G", "title": "not a member"},
        {"rating": "M"},
        {"rating": "PG"},
        {},
        {"rating": "R", "alt_text": "Another"},
        {"rating": "R", "alt_text": "Another"},
        {"rating": "X"},
        {"rating": "pg"},
    ):
        yield client.send("PATCH", path, "owner", json=change)
    client.send("PATCH", path, "owner", json={"alt_text": ""})
    yield avatars(client)


@probe("avatar-patch-partial", needs=("owner", "writes", "uploads"))
def two_updates_at_once(client: ProbeClient) -> None:
    """Updates two members of an avatar by two requests at the same moment, and lists it."""
    path = f"/me/avatars/{an_avatar(client)}"
    client.send("PATCH", path, "owner", json={"rating": "G", "alt_text": "Understudy"})
    changes = ({"rating": "PG"}, {"alt_text": "Understudy at once"})
    client.send_together("PATCH", path, "owner", *({"json": each} for each in changes))
    avatars(client)
