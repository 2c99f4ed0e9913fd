"""Mutants of what one kind of write does to another kind's resource, made by hand."""

from tests.proofs.mutants.avatar_views import ASSIGN, PARTIAL, after, unselected
from tests.proofs.mutants.edge import (
    LOOKUP,
    OWN,
    answer,
    asking,
    at,
    editing,
    is_avatar,
    is_profile,
    mutant,
    path_of,
    register,
    said,
    who,
)

FOREIGN = "foreign-avatars-invisible"
COUNT = "number-verified-accounts-counts-hidden"


def _is_deletion(request):
    return is_avatar(request, "DELETE") and who(request) == "ada-full"


def _is_update(request):
    return at(request, "PATCH", OWN) and who(request) == "ada-full"


def _all_unselected(_request, avatars, _write):
    return [{**avatar, "selected": False} for avatar in avatars]


def _without_first(request, avatars, _write):
    return avatars[1:] if who(request) == "ada-full" else avatars


after(
    "a_deletion_unselects_another_avatar_for_the_second_address",
    (ASSIGN,),
    _is_deletion,
    unselected,
)
after(
    "a_profile_update_unselects_the_avatar",
    (ASSIGN,),
    _is_update,
    _all_unselected,
)
after(
    "a_profile_update_unselects_the_avatar_of_the_second_address",
    (ASSIGN,),
    _is_update,
    unselected,
)
after(
    "a_profile_update_drops_the_oldest_avatar",
    ("avatar-list-of-caller",),
    _is_update,
    _without_first,
)
after(
    "a_profile_update_resets_the_ratings",
    (PARTIAL,),
    _is_update,
    lambda _request, avatars, _write: [{**avatar, "rating": "PG"} for avatar in avatars],
)


def _refused_and_carried_out(name, method):
    """Registers a deployment that carries out what it refuses another account."""

    def change(request, send):
        response = send(request)
        if is_avatar(request, method) and who(request) == "olu-full" and response.is_client_error:
            send(asking(request, token="ada-full"))
        return response

    register(name, (FOREIGN, PARTIAL, "avatar-list-of-caller"), change)


_refused_and_carried_out("an_update_by_another_account_is_refused_and_carried_out", "PATCH")


@mutant("profile-by-hash-or-slug")
def a_beginning_of_the_slug_finds_a_profile(request, send):
    name = path_of(request).removeprefix(LOOKUP)
    if at(request, "GET", LOOKUP) and name and "ada".startswith(name):
        return send(asking(request, path=f"{LOOKUP}ada"))
    return send(request)


@mutant("avatar-selected-for-email", first=dict)
def the_profile_keeps_the_text_of_the_avatar_from_before(request, send, first):
    response = send(request)
    profile = said(response)
    if is_profile(request) and response.status_code == 200 and isinstance(profile, dict):
        text = first.setdefault(profile.get("hash"), profile.get("avatar_alt_text"))
        return answer(response, body={**profile, "avatar_alt_text": text})
    return response


def _numbered(name, number):
    """Registers a deployment that tells a wrong number of verified accounts."""

    def edit(body):
        if "number_verified_accounts" not in body:
            return body
        return {**body, "number_verified_accounts": number(body)}

    def change(request, send):
        return editing(is_profile, edit)(request, send)

    register(name, (COUNT,), change)


_numbered(
    "the_number_of_accounts_counts_hidden_ones_twice",
    lambda b: b["number_verified_accounts"] + sum(a["is_hidden"] for a in b["verified_accounts"]),
)
_numbered(
    "the_number_of_accounts_is_one_too_many_with_several",
    lambda b: b["number_verified_accounts"] + (len(b["verified_accounts"]) > 1),
)
_numbered(
    "the_number_of_accounts_is_that_of_those_shown_to_the_public",
    lambda b: min(4, sum(not a["is_hidden"] for a in b["verified_accounts"])),
)
