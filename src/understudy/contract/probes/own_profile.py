"""Probes of the own profile; what they change, the gateway puts back."""

from understudy.contract.history import made_up_hash
from understudy.contract.probing import probe
from understudy.contract.shapes import EDITABLE
from understudy.contract.visit import Visit


def _update(visit: Visit, **changes: object) -> None:
    visit.send("PATCH", "/me/profile", "owner", json=changes)


@probe("own-profile-disabled-404", needs=("disabled",))
def a_disabled_profile(visit: Visit) -> None:
    """Reads the own profile of an account whose profile is disabled."""
    visit.get("/me/profile", "disabled")


@probe(
    "profile-patch-partial",
    "profile-patch-seven-fields",
    "profile-patch-empty-unsets",
    "profile-patch-updates-last-edit",
    "unset-required-strings-empty",
    needs=("owner", "writes", "slug"),
    cost=20,
)
def edits_and_how_they_read(visit: Visit) -> None:
    """Changes each field alone, reads it back as owner and as nobody, and unsets it."""
    visit.get("/me/profile", "owner")
    for place, name in enumerate(EDITABLE):
        _update(visit, **{name: f"Understudy {place}"})
        visit.get("/me/profile", "owner")
    visit.get(f"/profiles/{visit.known.slug}")
    for name in EDITABLE:
        _update(visit, **{name: ""})
    visit.get("/me/profile", "owner")
    visit.get(f"/profiles/{visit.known.slug}")
    _update(visit, job_title="Understudy", company="Understudies")
    visit.get(f"/profiles/{visit.known.slug}")


@probe("profile-patch-partial", needs=("owner", "writes"), cost=3)
def an_update_of_nothing(visit: Visit) -> None:
    """Sends an empty object, which changes nothing."""
    visit.get("/me/profile", "owner")
    _update(visit)
    visit.get("/me/profile", "owner")


@probe(
    "profile-patch-unknown-members",
    "profile-patch-seven-fields",
    needs=("owner", "writes"),
    cost=7,
)
def members_that_cannot_be_changed(visit: Visit) -> None:
    """Tries to change what is not among the seven fields, alone and beside one that is."""
    visit.get("/me/profile", "owner")
    changes: list[dict[str, object]] = [
        {"timezone": "Etc/UTC"},
        {"location": "nowhere", "hash": made_up_hash(2)},
        {"first_name": "Understudy", "company": "nowhere"},
    ]
    for change in changes:
        _update(visit, **change)
        visit.get("/me/profile", "owner")


@probe("profile-patch-strings", needs=("owner", "writes"), cost=8)
def values_that_are_no_texts(visit: Visit) -> None:
    """Tries each field with a value of another type."""
    visit.get("/me/profile", "owner")
    values: tuple[object, ...] = (7, None, True, ["a"], {"a": "b"}, 1.5, 0)
    for name, value in zip(EDITABLE, values, strict=True):
        _update(visit, **{name: value})
    visit.get("/me/profile", "owner")


@probe("associated-email", "associated-response-members", needs=("owner", "hashes"), cost=4)
def addresses_of_the_account(visit: Visit) -> None:
    """Asks about every address of the account, the other's, and one of nobody."""
    foreign = [*visit.known.others_hashes[:1], made_up_hash(3)]
    for asked in (*visit.known.own_hashes, *foreign):
        visit.get("/me/associated-email", "owner", {"email_hash": asked})


@probe("associated-email-hash-required", needs=("owner",))
def no_address_at_all(visit: Visit) -> None:
    """Asks about no address."""
    visit.get("/me/associated-email", "owner")


@probe("associated-email", needs=("other", "other_hashes"), cost=3)
def addresses_of_the_other(visit: Visit) -> None:
    """Asks the same of the other account."""
    for asked in (*visit.known.others_hashes, *visit.known.own_hashes[:1]):
        visit.get("/me/associated-email", "other", {"email_hash": asked})
