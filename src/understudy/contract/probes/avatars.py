"""Probes of the avatar list, and of changes to avatars that the run itself uploaded."""

from understudy.contract.exchange import Exchange
from understudy.contract.history import MADE_UP, avatars_in, made_up_hash
from understudy.contract.probes.uploads import picture, upload
from understudy.contract.probing import probe
from understudy.contract.visit import Visit


def _id(exchange: Exchange) -> str:
    return str(exchange.said.get("image_id", MADE_UP))


def _list(visit: Visit, hash_: str | None = None, who: str = "owner") -> Exchange:
    return visit.get("/me/avatars", who, {"selected_email_hash": hash_} if hash_ else ())


@probe(
    *("avatar-list-of-caller", "avatar-members", "rating-values", "updated-date-utc"),
    *("avatar-selected-for-email", "unknown-selected-email-hash", "json-bodies"),
    needs=("owner",),
    cost=4,
)
def the_list(visit: Visit) -> None:
    """Lists the avatars, as they stand for each address and for one of nobody."""
    _list(visit)
    for hash_ in visit.known.own_hashes:
        _list(visit, hash_)
    _list(visit, made_up_hash(4))
    visit.get("/me/avatars", "owner", {"selected_email_hash": ""})


@probe("avatar-list-of-caller", needs=("owner", "other"), cost=2)
def two_lists(visit: Visit) -> None:
    """Lists the avatars of two accounts, which share none."""
    _list(visit)
    _list(visit, who="other")


@probe("unknown-selected-email-hash", needs=("owner", "other_hashes"))
def the_others_address(visit: Visit) -> None:
    """Lists the avatars as they stand for another's address."""
    _list(visit, visit.known.others_hashes[0])


@probe("avatar-urls-resolve", needs=("owner",), cost=2)
def an_avatars_picture(visit: Visit) -> None:
    """Looks at the picture of the first avatar."""
    for avatar in avatars_in(_list(visit))[:1]:
        visit.get(str(avatar.get("image_url")))


@probe("avatar-unknown-404", "error-shape", needs=("owner", "writes"), cost=3)
def avatars_that_there_are_not(visit: Visit) -> None:
    """Changes, deletes and assigns an avatar that does not exist."""
    visit.send("PATCH", f"/me/avatars/{MADE_UP}", "owner", json={"rating": "G"})
    visit.send("DELETE", f"/me/avatars/{MADE_UP}", "owner")
    hashes = visit.known.own_hashes or (made_up_hash(5),)
    body = {"email_hash": hashes[0]}
    visit.send("POST", f"/me/avatars/{MADE_UP}/email", "owner", json=body)


@probe(
    "avatar-patch-rating-and-alt-text",
    "avatar-patch-partial",
    "avatar-patch-members",
    "rating-values",
    needs=("owner", "writes", "uploads"),
    cost=12,
)
def changes_of_an_avatar(visit: Visit) -> None:
    """Changes rating and text alternative alone and together, and reads them back."""
    path = f"/me/avatars/{_id(upload(visit, picture(), select_avatar='false'))}"
    for change in (
        {"alt_text": "An understudy"},
        {"rating": "PG"},
        {},
        {"rating": "R", "alt_text": "Another"},
        {"rating": "X"},
        {"alt_text": ""},
        {"rating": "M"},
        {"rating": "pg"},
        {"rating": "G", "title": "no member"},
    ):
        visit.send("PATCH", path, "owner", json=change)
    _list(visit)


@probe(
    "avatar-email-assign",
    "avatar-email-status",
    "avatar-email-hash-required",
    "avatar-email-unknown-hash",
    "avatar-selected-for-email",
    "avatar-delete-unselects",
    needs=("owner", "writes", "uploads", "hashes"),
    cost=16,
)
def assignments(visit: Visit) -> None:
    """Sets an avatar for each address, looks, and deletes it while it is selected."""
    hashes = visit.known.own_hashes
    image = _id(upload(visit, picture(), select_avatar="false"))
    path = f"/me/avatars/{image}/email"
    visit.send("POST", path, "owner", json={})
    visit.send("POST", path, "owner", json={"email_hash": made_up_hash(6)})
    if visit.known.others_hashes:
        visit.send("POST", path, "owner", json={"email_hash": visit.known.others_hashes[0]})
    for hash_ in hashes:
        visit.send("POST", path, "owner", json={"email_hash": hash_})
        _list(visit, hash_)
    _list(visit)
    visit.send("DELETE", f"/me/avatars/{image}", "owner")
    _list(visit)
    for hash_ in hashes:
        _list(visit, hash_)


@probe(
    "avatar-delete-no-content",
    "avatar-delete-status",
    "avatar-list-of-caller",
    "avatar-unknown-404",
    needs=("owner", "writes", "uploads"),
    cost=5,
)
def a_deletion(visit: Visit) -> None:
    """Deletes an avatar, looks, and deletes it again."""
    image = _id(upload(visit, picture(), select_avatar="false"))
    _list(visit)
    visit.send("DELETE", f"/me/avatars/{image}", "owner")
    _list(visit)
    visit.send("DELETE", f"/me/avatars/{image}", "owner")


@probe("foreign-avatars-invisible", needs=("owner", "other", "writes", "uploads"), cost=5)
def anothers_avatar(visit: Visit) -> None:
    """Lets another change, assign and delete an avatar of the test account."""
    image = _id(upload(visit, picture(), select_avatar="false"))
    visit.send("PATCH", f"/me/avatars/{image}", "other", json={"rating": "X"})
    if visit.known.others_hashes:
        body = {"email_hash": visit.known.others_hashes[0]}
        visit.send("POST", f"/me/avatars/{image}/email", "other", json=body)
    visit.send("DELETE", f"/me/avatars/{image}", "other")
    _list(visit)
