"""Probes of the own profile; what they change, the gateway puts back."""

from understudy.deployments.exchange import Exchange
from understudy.verify.history import made_up_hash
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, part, probe
from understudy.verify.shapes import EDITABLE


def _update(client: ProbeClient, **changes: object) -> Exchange:
    return client.send("PATCH", "/me/profile", "owner", json=changes)


@probe("own-profile-disabled-404", needs=("disabled",))
def a_disabled_profile(client: ProbeClient) -> None:
    """Reads the own profile of an account whose profile is disabled."""
    client.get("/me/profile", "disabled")


@probe(
    *("profile-patch-partial", "profile-patch-seven-fields", "profile-patch-updates-last-edit"),
    needs=("owner", "writes", "slug"),
    then=[
        part("profile-patch-partial", "profile-patch-seven-fields", cost=2),
        part("profile-patch-empty-unsets", "unset-required-strings-empty", cost=3),
        *5 * [part("profile-patch-partial", "profile-patch-seven-fields")],
        part("profile-patch-seven-fields", cost=2),
        part("profile-patch-empty-unsets", "profile-patch-partial"),
    ],
)
def edits_and_how_they_read(client: ProbeClient) -> Parts:
    """Changes each field alone, reads them back as owner and as nobody, and unsets them."""
    yield _update(client, **{EDITABLE[0]: "Understudy"})
    _update(client, **{EDITABLE[1]: "Understudy"})
    yield client.get("/me/profile", "owner")
    _update(client, **dict.fromkeys(EDITABLE, ""))
    client.get("/me/profile", "owner")
    yield client.get(f"/profiles/{client.known.slug}")
    for place, name in enumerate(EDITABLE[2:]):
        yield _update(client, **{name: f"Understudy {place}"})
    _update(client, **{EDITABLE[0]: "Understudies"})
    yield client.get(f"/profiles/{client.known.slug}")
    yield _update(client, **{EDITABLE[1]: ""})


@probe(
    *("profile-patch-seven-fields", "profile-patch-empty-unsets"),
    needs=("owner", "writes", "slug"),
    cost=3,
)
def two_edits_at_once(client: ProbeClient) -> None:
    """Sets a field and unsets another, and reads them back."""
    _update(client, job_title="Understudy", company="")
    client.get(f"/profiles/{client.known.slug}")
    client.get("/me/profile", "owner")


@probe("profile-patch-partial", needs=("owner", "writes"), cost=2)
def an_update_of_nothing(client: ProbeClient) -> None:
    """Sends an empty object, which changes nothing."""
    _update(client)
    client.get("/me/profile", "owner")


@probe(
    *("profile-patch-unknown-members", "profile-patch-seven-fields"),
    needs=("owner", "writes"),
    cost=2,
    then=2 * [part("profile-patch-unknown-members", cost=2)],
)
def members_that_cannot_be_changed(client: ProbeClient) -> Parts:
    """Tries to change what is not among the seven fields, alone and beside one that is."""
    changes: list[dict[str, object]] = [
        {"timezone": "Etc/UTC"},
        {"location": "nowhere", "hash": made_up_hash(2)},
        {"first_name": "Understudy", "company": "nowhere"},
    ]
    for change in changes:
        _update(client, **change)
        yield client.get("/me/profile", "owner")


@probe(
    "profile-patch-strings",
    needs=("owner", "writes"),
    cost=2,
    then=[*5 * [part("profile-patch-strings")], part("profile-patch-strings", cost=2)],
)
def values_that_are_no_texts(client: ProbeClient) -> Parts:
    """Tries each field with a value of another type."""
    values: tuple[object, ...] = (7, None, True, ["a"], {"a": "b"}, 1.5, 0)
    for name, value in zip(EDITABLE, values, strict=True):
        update = _update(client, **{name: value})
        is_read = name in {EDITABLE[0], EDITABLE[-1]}
        yield client.get("/me/profile", "owner") if is_read else update


@probe(
    *("associated-email", "associated-response-members"),
    needs=("owner", "hashes"),
    then=3 * [part("associated-email")],
)
def addresses_of_the_account(client: ProbeClient) -> Parts:
    """Asks about every address of the account, the other's, and one of nobody."""
    foreign = [*client.known.others_hashes[:1], made_up_hash(3)]
    for asked in (*client.known.own_hashes, *foreign):
        yield client.get("/me/associated-email", "owner", {"email_hash": asked})


@probe("associated-email-hash-required", needs=("owner",))
def no_address_at_all(client: ProbeClient) -> None:
    """Asks about no address."""
    client.get("/me/associated-email", "owner")


@probe("associated-email", needs=("other", "other_hashes"), then=3 * [part("associated-email")])
def addresses_of_the_other(client: ProbeClient) -> Parts:
    """Asks the same of the other account."""
    for asked in (*client.known.others_hashes, *client.known.own_hashes[:1]):
        yield client.get("/me/associated-email", "other", {"email_hash": asked})
