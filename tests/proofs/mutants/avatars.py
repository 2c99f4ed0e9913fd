"""Mutants of the avatar list and of changes to avatars, made by hand."""

import httpx
import orjson
from tests.proofs.mutants.edge import (
    LIST,
    answer,
    asking,
    at,
    edits,
    is_avatar,
    json_of,
    members_of,
    mutant,
    path_of,
    query_of,
    register,
    said,
    who,
)

from understudy.verify.target import email_hash

ADA = email_hash("ada@example.com")
ADA_SECOND = email_hash("ada.merrowdale@example.org")


@mutant("avatar-list-of-caller", "avatar-upload-returns-avatar", new=list)
def a_new_avatar_is_listed_late(request, send, new):
    response = send(request)
    if at(request, "POST", LIST) and response.status_code == 200:
        new.append(said(response)["image_id"])
    if at(request, "GET", LIST) and new and response.status_code == 200:
        late = new.pop()
        return answer(response, body=[a for a in said(response) if a["image_id"] != late])
    return response


@mutant("avatar-list-of-caller")
def the_list_holds_anothers_avatar(request, send):
    response = send(request)
    if at(request, "GET", LIST) and who(request) == "ada-full" and response.status_code == 200:
        others = said(send(asking(request, token="olu-full", query={"selected_email_hash": None})))
        return answer(response, body=[*said(response), {**others[0], "selected": False}])
    return response


@mutant("avatar-list-of-caller", "avatar-delete-no-content", last=dict)
def deleted_avatars_are_listed_still(request, send, last):
    response = send(request)
    if at(request, "GET", LIST) and who(request) == "ada-full" and response.status_code == 200:
        for avatar in said(response):
            last[avatar["image_id"]] = {**avatar, "selected": False}
        return answer(
            response,
            body=[
                *said(response),
                *(a for i, a in last.items() if i not in {b["image_id"] for b in said(response)}),
            ],
        )
    return response


@edits(lambda r: at(r, "GET", LIST), "avatar-selected-for-email")
def two_avatars_are_selected(body):
    return [{**avatar, "selected": True} for avatar in body]


@mutant("unknown-selected-email-hash")
def strange_addresses_are_ignored(request, send):
    response = send(request)
    if (
        path_of(request) == LIST
        and response.status_code == 403
        and "selected_email_hash" in query_of(request)
    ):
        return send(asking(request, query={"selected_email_hash": None}))
    return response


@mutant("unknown-selected-email-hash")
def an_empty_address_is_refused(request, send):
    if query_of(request).get("selected_email_hash") == "":
        return httpx.Response(400, json={"error": "no"})
    return send(request)


def _another_as_owner(method, request, send):
    is_meant = is_avatar(request, method) and who(request) == "olu-full"
    return send(asking(request, token="ada-full") if is_meant else request)


@mutant("foreign-avatars-invisible")
def another_may_rate_ones_avatars(request, send):
    return _another_as_owner("PATCH", request, send)


@mutant("foreign-avatars-invisible")
def strange_avatars_are_forbidden(request, send):
    response = send(request)
    if (
        is_avatar(request, request.method)
        and who(request) == "olu-full"
        and response.status_code == 404
    ):
        return answer(response, status=403)
    return response


@mutant("foreign-avatars-invisible")
def another_may_delete_ones_avatars(request, send):
    return _another_as_owner("DELETE", request, send)


@mutant("foreign-avatars-invisible")
def an_address_and_an_avatar_that_belong_together_are_enough(request, send):
    return _another_as_owner("POST", request, send)


@mutant("avatar-email-assign")
def another_is_refused_after_the_avatar_is_selected(request, send):
    response = send(request)
    if is_avatar(request, "POST") and response.is_client_error and who(request) == "olu-full":
        send(asking(request, token="ada-full"))
    return response


@mutant("avatar-unknown-404")
def deleting_nothing_succeeds(request, send):
    response = send(request)
    is_gone = is_avatar(request, "DELETE") and response.status_code == 404
    return httpx.Response(204) if is_gone and who(request) == "ada-full" else response


@mutant("avatar-delete-no-content")
def deletions_answer_with_json(request, send):
    response = send(request)
    is_deletion = is_avatar(request, "DELETE") and response.status_code == 204
    return httpx.Response(204, json={"deleted": True}) if is_deletion else response


@mutant("avatar-delete-unselects")
def another_avatar_takes_the_place(request, send):
    response = send(request)
    if is_avatar(request, "DELETE") and response.status_code == 204:
        listed = said(send(asking(request, path=LIST, method="GET")))
        is_list = isinstance(listed, list) and listed
        if is_list and not any(avatar["selected"] for avatar in listed):
            path = f"/me/avatars/{listed[0]['image_id']}/email"
            body = orjson.dumps({"email_hash": ADA})
            headers = {"content-type": "application/json"}
            send(asking(request, path=path, method="POST", body=body, headers=headers))
    return response


def _patching(*rules):
    """Registers a function as the deviation that changes the body of an update by it."""

    def decorate(edit):
        def change(request, send):
            if is_avatar(request, "PATCH") and isinstance(json_of(request), dict):
                return send(asking(request, body=orjson.dumps(edit(json_of(request)))))
            return send(request)

        register(edit.__name__, rules, change)
        return edit

    return decorate


@_patching("avatar-patch-rating-and-alt-text")
def ratings_are_never_changed(body):
    return (
        {n: v for n, v in body.items() if n != "rating"}
        if body.get("rating") in ("G", "PG", "R", "X")
        else body
    )


@_patching("avatar-patch-rating-and-alt-text")
def an_empty_text_alternative_is_ignored(body):
    return {} if body == {"alt_text": ""} else body


@_patching("avatar-patch-partial")
def a_rating_clears_the_text_alternative(body):
    return {"alt_text": "", **body} if set(body) == {"rating"} else body


@mutant("avatar-patch-partial")
def an_update_of_nothing_is_refused(request, send):
    is_empty = is_avatar(request, "PATCH") and json_of(request) == {}
    return httpx.Response(400, json={"error": "no"}) if is_empty else send(request)


@_patching("avatar-patch-members")
def other_members_of_an_avatar_are_dropped(body):
    return {n: v for n, v in body.items() if n in {"rating", "alt_text"}}


@mutant("error-unknown-member")
def other_members_are_refused_as_a_conflict(request, send):
    response = send(request)
    members = set(members_of(request)) if is_avatar(request, "PATCH") else set()
    is_meant = response.status_code == 400 and not members <= {"rating", "alt_text"}
    return (
        httpx.Response(409, headers=response.headers, content=response.content)
        if is_meant
        else response
    )


@_patching("rating-values")
def lower_case_ratings_are_taken(body):
    return (
        {**body, "rating": body["rating"].upper()} if isinstance(body.get("rating"), str) else body
    )


@mutant("avatar-email-assign")
def assignments_go_to_the_primary_address(request, send):
    if is_avatar(request, "POST") and members_of(request).get("email_hash") == ADA_SECOND:
        return send(asking(request, body=orjson.dumps({"email_hash": ADA})))
    return send(request)


@mutant("avatar-email-assign")
def assignments_answer_with_the_avatar(request, send):
    response = send(request)
    is_assignment = is_avatar(request, "POST") and response.status_code == 204
    return httpx.Response(200, json={"image_id": "a"}) if is_assignment else response


@mutant("avatar-email-hash-required")
def without_an_address_the_primary_is_meant(request, send):
    if is_avatar(request, "POST") and json_of(request) == {}:
        return send(asking(request, body=orjson.dumps({"email_hash": ADA})))
    return send(request)


@mutant("avatar-email-unknown-hash")
def strange_addresses_are_assigned(request, send):
    response = send(request)
    is_refused = is_avatar(request, "POST") and response.status_code == 403
    return httpx.Response(204) if is_refused and who(request) == "ada-full" else response


@mutant("avatar-email-both-unknown")
def an_unknown_address_is_refused_before_the_avatar(request, send):
    response = send(request)
    is_assignment = path_of(request).endswith("/email") and response.status_code == 404
    if is_assignment and members_of(request).get("email_hash") not in {ADA, ADA_SECOND}:
        return answer(response, status=403)
    return response
