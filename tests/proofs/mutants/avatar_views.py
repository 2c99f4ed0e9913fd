"""Mutants of what a change of one avatar does to others, to addresses and accounts, made by hand."""

import html

import httpx
import orjson
from tests.proofs.mutants.edge import (
    LIST,
    answer,
    asking,
    at,
    is_avatar,
    members_of,
    mutant,
    path_of,
    query_of,
    register,
    said,
    who,
)
from tests.proofs.mutants.own_profile import ADA, ADA_SECOND

PARTIAL = "avatar-patch-partial"
CARRIED_OUT = "avatar-patch-rating-and-alt-text"
ASSIGN = "avatar-email-assign"


def _id_in(request):
    return path_of(request).removeprefix("/me/avatars/").partition("/")[0]


def _all_changed(name, member):
    """Registers a deployment where an update of one avatar also changes the account's others."""

    def change(request, send, last):
        response = send(request)
        if is_avatar(request, "PATCH") and response.status_code == 200:
            last.update({n: t for n, t in members_of(request).items() if n == member})
        is_own = at(request, "GET", LIST) and who(request) == "ada-full"
        if is_own and response.status_code == 200 and last:
            return answer(response, body=[{**avatar, **last} for avatar in said(response)])
        return response

    register(name, (PARTIAL,), change, last=dict)


_all_changed("a_rating_is_given_to_every_avatar", "rating")
_all_changed("a_text_alternative_is_given_to_every_avatar", "alt_text")


@mutant(PARTIAL, "me-needs-oauth-token", "foreign-avatars-invisible", last=dict)
def a_rating_is_given_to_the_avatars_of_another_account(request, send, last):
    response = send(request)
    if is_avatar(request, "PATCH") and response.status_code == 200:
        last.update({n: t for n, t in members_of(request).items() if n == "rating"})
    if at(request, "GET", LIST) and who(request) == "olu-full" and last:
        return answer(response, body=[{**avatar, **last} for avatar in said(response)])
    return response


def _texts(name, edit):
    """Registers a deployment that stores another text alternative than it is sent."""

    def change(request, send):
        members = members_of(request)
        if is_avatar(request, "PATCH") and isinstance(members.get("alt_text"), str):
            edited = {**members, "alt_text": edit(members["alt_text"])}
            return send(asking(request, body=orjson.dumps(edited)))
        return send(request)

    register(name, (CARRIED_OUT,), change)


_texts("text_alternatives_are_escaped_for_html", lambda t: html.escape(t, quote=False))
_texts("text_alternatives_lose_emoji", lambda t: "".join(c for c in t if ord(c) < 0x10000))
_texts("a_text_alternative_of_zero_is_dropped", lambda t: "" if t == "0" else t)
_texts("backslashes_vanish_from_text_alternatives", lambda t: t.replace("\\", ""))
_texts("text_alternatives_are_latin", lambda t: t.encode("latin-1", "replace").decode("latin-1"))


def _assigning(name, changes):
    """Registers a deployment where setting an avatar changes another address's selection too."""

    def change(request, send):
        response = send(request)
        if is_avatar(request, "POST") and response.status_code == 204:
            for hash_ in changes(members_of(request).get("email_hash")):
                send(asking(request, body=orjson.dumps({"email_hash": hash_})))
        return response

    register(name, (ASSIGN,), change)


_assigning("setting_for_one_address_sets_for_all", lambda hash_: {ADA, ADA_SECOND} - {hash_})
_assigning(
    "setting_for_the_second_address_sets_for_the_first",
    lambda hash_: {ADA} if hash_ == ADA_SECOND else set(),
)
_assigning(
    "setting_for_the_first_address_sets_for_the_second",
    lambda hash_: {ADA_SECOND} if hash_ == ADA else set(),
)


def after(name, rules, is_trigger, edit):
    """Registers a deployment whose lists are wrong after a kind of write."""

    def change(request, send, writes):
        response = send(request)
        if is_trigger(request) and response.is_success:
            writes.append(request)
        if at(request, "GET", LIST) and writes and response.status_code == 200:
            return answer(response, body=edit(request, said(response), writes[-1]))
        return response

    register(name, rules, change, writes=list)


def unselected(request, avatars, _write):
    is_second = query_of(request).get("selected_email_hash") == ADA_SECOND
    return [{**avatar, "selected": False} if is_second else avatar for avatar in avatars]


after(
    "an_update_unselects_for_the_second_address",
    (ASSIGN, "avatar-selected-for-email"),
    lambda r: is_avatar(r, "PATCH"),
    unselected,
)


def _lists_for_other(request, avatars, _write):
    return [] if who(request) == "olu-full" else avatars


after(
    "a_deletion_empties_the_list_of_another_account",
    ("avatar-list-of-caller",),
    lambda r: is_avatar(r, "DELETE") and who(r) == "ada-full",
    _lists_for_other,
)
after(
    "a_deletion_takes_a_second_avatar_along",
    ("avatar-list-of-caller",),
    lambda r: is_avatar(r, "DELETE"),
    lambda _request, avatars, _write: avatars[:-1],
)


@mutant("avatar-patch-rating-and-alt-text", PARTIAL)
def a_rating_resets_the_text_alternative(request, send):
    members = members_of(request)
    if is_avatar(request, "PATCH") and set(members) == {"rating"}:
        return send(asking(request, body=orjson.dumps({**members, "alt_text": ""})))
    return send(request)


@mutant(CARRIED_OUT)
def a_rating_of_x_is_stored_as_r(request, send):
    members = members_of(request)
    if is_avatar(request, "PATCH") and members.get("rating") == "X":
        return send(asking(request, body=orjson.dumps({**members, "rating": "R"})))
    return send(request)


@mutant("foreign-avatars-invisible")
def another_account_may_update_an_avatar(request, send):
    if is_avatar(request, "PATCH") and who(request) == "olu-full":
        return send(asking(request, token="ada-full"))
    return send(request)


@mutant("foreign-avatars-invisible", "avatar-list-of-caller")
def a_deletion_by_another_account_is_refused_and_carried_out(request, send):
    response = send(request)
    if is_avatar(request, "DELETE") and who(request) == "olu-full" and response.is_client_error:
        send(asking(request, token="ada-full"))
    return response


@mutant(ASSIGN, "select-avatar")
def an_upload_for_one_address_is_selected_for_all(request, send):
    response = send(request)
    is_meant = at(request, "POST", LIST) and query_of(request).get("select_avatar") == "true"
    if is_meant and response.status_code == 200:
        path = f"/me/avatars/{said(response)['image_id']}/email"
        for hash_ in (ADA, ADA_SECOND):
            body = orjson.dumps({"email_hash": hash_})
            headers = {"authorization": "Bearer ada-full", "content-type": "application/json"}
            url = f"http://127.0.0.1:8080/v3{path}"
            send(httpx.Request("POST", url, headers=headers, content=body))
    return response
