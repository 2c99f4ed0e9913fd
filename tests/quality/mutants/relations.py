"""Mutants that only a second response shows: views of one thing that differ, refusals carried out."""

from tests.quality.mutants.edge import (
    LIST,
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
    query_of,
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


@mutant("avatar-urls-resolve")
def a_list_gives_each_avatar_the_address_of_the_next(request, send):
    def turned(avatars):
        addresses = [avatar["image_url"] for avatar in avatars]
        turned = [*addresses[1:], *addresses[:1]]
        return [{**avatar, "image_url": url} for avatar, url in zip(avatars, turned, strict=True)]

    return editing(lambda asked: at(asked, "GET", LIST), turned)(request, send)


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
