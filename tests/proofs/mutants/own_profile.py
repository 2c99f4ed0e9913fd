"""Mutants of updates of the own profile, made by hand."""

import httpx
import orjson
from tests.proofs.mutants.edge import OWN, asking, at, edits, is_profile, json_of, mutant, who

from understudy.verify.shapes import EDITABLE
from understudy.verify.target import email_hash

OLU_WORK = email_hash("olu.work@example.com")
ADA = email_hash("ada@example.com")
ADA_SECOND = email_hash("ada.merrowdale@example.org")


def _update(request: httpx.Request) -> bool:
    return at(request, "PATCH", OWN) and isinstance(json_of(request), dict)


@mutant("profile-patch-partial")
def an_update_clears_what_it_was_not_given(request, send):
    if _update(request) and set(json_of(request)) <= set(EDITABLE):
        whole = dict.fromkeys(EDITABLE, "") | json_of(request)
        return send(asking(request, body=orjson.dumps(whole)))
    return send(request)


@mutant("profile-patch-partial", seen=list)
def an_update_clears_one_field_the_second_time(request, send, seen):
    response = send(request)
    if _update(request) and response.status_code == 200:
        seen.append(1)
        if len(seen) == 2:
            body = b'{"pronouns": ""}'
            return send(asking(request, body=body))
    return response


@mutant("profile-patch-empty-unsets")
def an_empty_text_is_ignored(request, send):
    if _update(request) and set(json_of(request)) <= set(EDITABLE):
        kept = {n: t for n, t in json_of(request).items() if t != ""}
        return send(asking(request, body=orjson.dumps(kept)))
    return send(request)


@mutant("profile-patch-empty-unsets")
def an_empty_text_is_ignored_in_one_field(request, send):
    if _update(request) and json_of(request).get("pronunciation") == "":
        kept = {n: t for n, t in json_of(request).items() if n != "pronunciation"}
        return send(asking(request, body=orjson.dumps(kept)))
    return send(request)


@mutant("profile-patch-seven-fields")
def one_of_the_seven_cannot_be_changed(request, send):
    if _update(request) and "company" in json_of(request):
        kept = {n: t for n, t in json_of(request).items() if n != "company"}
        return send(asking(request, body=orjson.dumps(kept)))
    return send(request)


@mutant("profile-patch-unknown-members")
def unknown_members_are_dropped(request, send):
    if _update(request):
        kept = {n: t for n, t in json_of(request).items() if n in EDITABLE}
        return send(asking(request, body=orjson.dumps(kept)))
    return send(request)


@mutant("profile-patch-unknown-members", "profile-patch-seven-fields")
def a_refused_update_changes_what_it_could(request, send):
    response = send(request)
    if _update(request) and response.status_code == 400:
        kept = {n: t for n, t in json_of(request).items() if n in EDITABLE and isinstance(t, str)}
        send(asking(request, body=orjson.dumps(kept)))
    return response


@mutant("profile-patch-strings")
def numbers_are_taken_for_texts(request, send):
    if _update(request):
        kept = {n: str(t) if isinstance(t, int) else t for n, t in json_of(request).items()}
        return send(asking(request, body=orjson.dumps(kept)))
    return send(request)


@mutant("profile-patch-strings")
def null_unsets(request, send):
    if _update(request):
        kept = {n: "" if t is None else t for n, t in json_of(request).items()}
        return send(asking(request, body=orjson.dumps(kept)))
    return send(request)


@edits(lambda r: is_profile(r) and who(r).startswith("ada"), "profile-patch-updates-last-edit")
def an_update_leaves_the_last_edit_alone(body):
    return {**body, "last_profile_edit": "2026-02-14T08:30:00Z"}
