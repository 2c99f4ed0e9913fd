"""Probes of the avatar list, and of changes to avatars that the run itself uploaded."""

from understudy.deployments.exchange import Exchange
from understudy.verify.history import MADE_UP, avatars_in, made_up_hash
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probes.uploads import an_avatar, id_of, picture, upload
from understudy.verify.probing import Parts, part, probe


def _list(client: ProbeClient, hash_: str | None = None, who: str = "owner") -> Exchange:
    return client.get("/me/avatars", who, {"selected_email_hash": hash_} if hash_ else ())


@probe(
    *("avatar-list-of-caller", "avatar-members", "rating-values", "updated-date-utc"),
    *("json-bodies", "scope-per-operation"),
    needs=("owner",),
    then=[
        part("unknown-selected-email-hash"),
        *2 * [part("avatar-selected-for-email")],
        part("unknown-selected-email-hash"),
    ],
)
def the_list(client: ProbeClient) -> Parts:
    """Lists the avatars, as they stand for one of nobody, for each address and for none."""
    yield _list(client)
    yield _list(client, made_up_hash(4))
    for hash_ in client.known.own_hashes:
        yield _list(client, hash_)
    yield client.get("/me/avatars", "owner", {"selected_email_hash": ""})


@probe("avatar-list-of-caller", needs=("owner", "other"))
def two_lists(client: ProbeClient) -> None:
    """Lists the avatars of two accounts, which share none."""
    client.recall("/me/avatars", "owner", is_lasting=True)
    _list(client, who="other")


@probe("unknown-selected-email-hash", needs=("owner", "other_hashes"))
def the_others_address(client: ProbeClient) -> None:
    """Lists the avatars as they stand for another's address."""
    _list(client, client.known.others_hashes[0])


@probe("avatar-urls-resolve", needs=("owner",))
def an_avatars_picture(client: ProbeClient) -> None:
    """Looks at the picture of the first avatar."""
    for avatar in avatars_in(client.recall("/me/avatars", "owner", is_lasting=True))[:1]:
        client.get(str(avatar.get("image_url")))


@probe("avatar-unknown-404", needs=("owner", "writes"), then=2 * [part("avatar-unknown-404")])
def avatars_that_there_are_not(client: ProbeClient) -> Parts:
    """Changes, deletes and assigns an avatar that does not exist."""
    yield client.send("PATCH", f"/me/avatars/{MADE_UP}", "owner", json={"rating": "G"})
    yield client.send("DELETE", f"/me/avatars/{MADE_UP}", "owner")
    hashes = client.known.own_hashes or (made_up_hash(5),)
    body = {"email_hash": hashes[0]}
    yield client.send("POST", f"/me/avatars/{MADE_UP}/email", "owner", json=body)


_CHANGE = part("avatar-patch-rating-and-alt-text", "avatar-patch-partial")
_REFUSED = part("rating-values")


@probe(
    *("avatar-patch-rating-and-alt-text", "avatar-patch-partial"),
    *("avatar-members", "rating-values", "updated-date-utc"),
    needs=("owner", "writes", "uploads"),
    then=[
        part("avatar-patch-members"),
        *(_REFUSED, _CHANGE, _CHANGE, part("avatar-patch-rating-and-alt-text"), _CHANGE),
        _REFUSED,
        part("avatar-patch-rating-and-alt-text", "avatar-patch-partial", cost=2),
    ],
)
def changes_of_an_avatar(client: ProbeClient) -> Parts:
    """Changes rating and text alternative alone and together, and reads them back."""
    path = f"/me/avatars/{an_avatar(client)}"
    yield client.send("PATCH", path, "owner", json={"alt_text": "An understudy"})
    for change in (
        {"rating": "G", "title": "no member"},
        {"rating": "M"},
        {"rating": "PG"},
        {},
        {"rating": "R", "alt_text": "Another"},
        {"rating": "X"},
        {"rating": "pg"},
    ):
        yield client.send("PATCH", path, "owner", json=change)
    client.send("PATCH", path, "owner", json={"alt_text": ""})
    yield _list(client)


@probe(
    *("avatar-email-assign", "avatar-email-status", "avatar-email-hash-required"),
    needs=("owner", "writes", "uploads", "hashes"),
    then=[
        part("avatar-email-assign", "avatar-selected-for-email"),
        part("avatar-email-unknown-hash"),
        part("avatar-email-hash-required"),
        part("avatar-email-unknown-hash"),
    ],
)
def assignments(client: ProbeClient) -> Parts:
    """Sets an avatar for an address, looks, and tries it without one and for strange ones."""
    path = f"/me/avatars/{an_avatar(client)}/email"
    last = client.known.own_hashes[-1]
    yield client.send("POST", path, "owner", json={"email_hash": last})
    yield _list(client, last)
    yield client.send("POST", path, "owner", json={"email_hash": made_up_hash(6)})
    yield client.send("POST", path, "owner", json={})
    for hash_ in client.known.others_hashes[:1]:
        yield client.send("POST", path, "owner", json={"email_hash": hash_})


@probe(
    *("avatar-delete-unselects", "avatar-email-assign"),
    needs=("owner", "writes", "uploads", "hashes"),
    cost=7,
)
def a_deletion_of_what_is_selected(client: ProbeClient) -> None:
    """Sets an avatar for each address, looks, deletes it, and looks again."""
    hashes = client.known.own_hashes
    image = id_of(upload(client, picture(), select_avatar="true"))
    for hash_ in hashes[1:]:
        client.send("POST", f"/me/avatars/{image}/email", "owner", json={"email_hash": hash_})
    for hash_ in hashes:
        _list(client, hash_)
    client.send("DELETE", f"/me/avatars/{image}", "owner")
    for hash_ in hashes:
        _list(client, hash_)


@probe(
    *("avatar-delete-no-content", "avatar-delete-status", "avatar-list-of-caller"),
    needs=("owner", "writes", "uploads"),
    cost=4,
    then=[part("avatar-unknown-404")],
)
def a_deletion(client: ProbeClient) -> Parts:
    """Deletes an avatar, looks, and deletes it again."""
    image = id_of(upload(client, picture(), select_avatar="false"))
    _list(client)
    client.send("DELETE", f"/me/avatars/{image}", "owner")
    yield _list(client)
    yield client.send("DELETE", f"/me/avatars/{image}", "owner")


@probe(
    "foreign-avatars-invisible",
    needs=("owner", "other", "writes", "uploads"),
    then=[*2 * [part("foreign-avatars-invisible")], part("avatar-list-of-caller")],
)
def anothers_avatar(client: ProbeClient) -> Parts:
    """Lets another change, assign and delete an avatar of the test account."""
    image = an_avatar(client)
    yield client.send("PATCH", f"/me/avatars/{image}", "other", json={"rating": "X"})
    for hash_ in client.known.others_hashes[:1]:
        body = {"email_hash": hash_}
        yield client.send("POST", f"/me/avatars/{image}/email", "other", json=body)
    yield client.send("DELETE", f"/me/avatars/{image}", "other")
    yield _list(client)
