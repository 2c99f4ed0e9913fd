"""Mutants that only a second response shows: views of one thing that differ, refusals carried out."""

import httpx
from tests.proofs.mutants.edge import (
    INFO,
    LIST,
    LOOKUP,
    OWN,
    answer,
    asking,
    at,
    editing,
    edits,
    is_avatar,
    is_profile,
    members_of,
    mutant,
    path_of,
    query_of,
    register,
    said,
    who,
)

SCOPE, FOUND = "scope-per-operation", "profile-by-hash-or-slug"
HASH = 64


def _by_hash(request):
    return at(request, "GET", LOOKUP) and len(path_of(request)) == len(LOOKUP) + HASH


def _found_by_hash(name, edit):
    """Registers a lookup by hash whose profile differs from the one by slug."""
    change = editing(_by_hash, edit)
    change.__name__ = name
    mutant(FOUND)(change)


def _address_of_hash(body):
    return {**body, "profile_url": f"{body['profile_url'].rpartition('/')[0]}/{body['hash']}"}


_found_by_hash("a_lookup_by_hash_has_the_address_of_the_hash", _address_of_hash)
_found_by_hash("a_lookup_by_hash_has_no_description", lambda body: {**body, "description": ""})
_found_by_hash(
    "a_lookup_by_hash_shows_one_verified_account",
    lambda body: {**body, "verified_accounts": body["verified_accounts"][:1]},
)


def _languages(name, edit):
    """Registers profiles with other languages."""

    def with_others(body):
        languages = [edit(language) for language in body.get("languages", ())]
        return {**body, "languages": languages} if languages else body

    change = editing(is_profile, with_others)
    change.__name__ = name
    mutant("language-positions")(change)


_languages("every_language_is_the_primary_one", lambda language: {**language, "is_primary": True})
_languages("every_language_is_at_the_beginning", lambda language: {**language, "order": 0})


def _time_zone(name, text):
    """Registers profiles whose time zone is written in another way."""

    def with_other(body):
        return {**body, "timezone": text} if "timezone" in body else body

    change = editing(is_profile, with_other)
    change.__name__ = name
    mutant("timezone-name")(change)


_time_zone("time_zones_are_offsets", "UTC+1")
_time_zone("time_zones_are_hours", "+01:00")
_time_zone("time_zones_are_in_words", "Pacific Standard Time")


@edits(lambda asked: at(asked, "GET", LIST), "avatar-urls-resolve")
def a_list_gives_each_avatar_the_address_of_the_next(avatars):
    addresses = [avatar["image_url"] for avatar in avatars]
    turned = [*addresses[1:], *addresses[:1]]
    return [{**avatar, "image_url": url} for avatar, url in zip(avatars, turned, strict=True)]


@mutant(SCOPE)
def an_update_without_the_scope_is_refused_and_carried_out(request, send):
    response = send(request)
    if at(request, "PATCH", OWN) and who(request) == "ada-read-only":
        send(asking(request, token="ada-full"))
    return response


@mutant(SCOPE)
def a_reading_token_may_rate_avatars(request, send):
    if is_avatar(request, "PATCH") and who(request) == "ada-read-only":
        return send(asking(request, token="ada-full"))
    return send(request)


@mutant(SCOPE)
def addresses_are_associated_without_auth(request, send):
    if path_of(request) == "/me/associated-email" and who(request) == "ada-no-auth":
        return send(asking(request, token="ada-full"))
    return send(request)


@mutant(SCOPE)
def avatars_are_deleted_without_auth(request, send):
    if is_avatar(request, "DELETE") and who(request) == "ada-no-auth":
        response = send(asking(request, token="ada-full"))
        return answer(response, status=204, body=b"")
    return send(request)


@mutant("qr-utm-parameters")
def campaigns_are_in_lower_case(request, send):
    campaign = query_of(request).get("utm_campaign")
    if at(request, "GET", "/qr-code/") and campaign:
        return send(asking(request, query={"utm_campaign": campaign.lower()}))
    return send(request)


@mutant("qr-centre-icon")
def version_3_has_no_icons(request, send):
    if query_of(request).get("version") == "3":
        return send(asking(request, query={"type": "none"}))
    return send(request)


@mutant("profile-patch-empty-unsets", "profile-patch-seven-fields")
def what_was_unset_shows_the_user_name(request, send):
    response = send(request)
    body = said(response)
    if is_profile(request) and isinstance(body, dict) and body.get("display_name") == "":
        return answer(response, body={**body, "display_name": "ada"})
    return response


def _redirects(name, edit):
    """Registers another address of redirects with an error."""

    def change(request, send):
        response = send(request)
        location = response.headers.get("location", "")
        if "error=" not in location:
            return response
        return answer(response, headers={"location": edit(location)})

    register(name, ("authorize-error-form",), change)


def _coded(location):
    return location.replace("invalid_scope", "bad_scope").replace("unsupported", "unknown")


_redirects("errors_have_codes_of_their_own", _coded)
_redirects(
    "a_denial_stands_in_the_fragment_for_both_flows",
    lambda location: location.replace("?error=access_denied", "#error=access_denied"),
)
_redirects(
    "descriptions_hold_quotation_marks",
    lambda location: location.replace("error_description=", "error_description=%22"),
)


@mutant("token-info")
def token_info_names_another_blog(request, send):
    response = send(request)
    body = said(response)
    if at(request, "GET", INFO) and response.status_code == 200:
        return answer(response, body={**body, "blog_id": f"{body['blog_id']}0"})
    return response


@mutant("avatar-delete-no-content", deleted=set)
def deleted_avatars_can_be_assigned(request, send, deleted):
    if request.method == "POST" and path_of(request).removesuffix("/email") in deleted:
        return httpx.Response(204)
    response = send(request)
    if is_avatar(request, "DELETE") and response.status_code == 204:
        deleted.add(path_of(request))
    return response


@mutant("avatar-delete-no-content", deleted=dict)
def deleted_avatars_can_be_rated(request, send, deleted):
    path = path_of(request)
    if is_avatar(request, "PATCH") and path in deleted:
        return httpx.Response(200, json={**deleted[path], **members_of(request)})
    if not is_avatar(request, "DELETE"):
        return send(request)
    listed = said(send(asking(request, method="GET", path=LIST, body=b"")))
    response = send(request)
    if response.status_code == 204:
        deleted[path] = next((each for each in listed if path.endswith(each["image_id"])), {})
    return response


def _without_object(name, status, body):
    """Registers what becomes of an update whose body is not a JSON object."""

    def change(request, send):
        response = send(request)
        if at(request, "PATCH", OWN) and who(request) == "ada-full" and not members_of(request):
            return (
                answer(response, status=status, body=body) if request.read() != b"{}" else response
            )
        return response

    register(name, ("json-bodies", "answers"), change)


_without_object("malformed_updates_crash", 500, {"error": "JSONDecodeError"})
_without_object("malformed_updates_succeed", 200, {})
