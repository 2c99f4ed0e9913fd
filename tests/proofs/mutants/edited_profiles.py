"""Mutants of what an update of the own profile leaves behind, in every view of it, made by hand."""

import html
import re

import orjson
from tests.proofs.mutants.edge import (
    LOOKUP,
    OWN,
    answer,
    asking,
    at,
    is_profile,
    members_of,
    mutant,
    path_of,
    register,
    said,
    who,
)
from tests.proofs.mutants.own_profile import ADA_SECOND

from understudy.verify.shapes import EDITABLE

SEVEN = "profile-patch-seven-fields"
PARTIAL = "profile-patch-partial"


def is_update(request):
    return at(request, "PATCH", OWN) and set(members_of(request)) <= set(EDITABLE)


def with_texts(name, rules, edit):
    """Registers a deployment that keeps other texts than an update asks for."""

    def change(request, send):
        if not is_update(request):
            return send(request)
        members = members_of(request).items()
        changed = {n: edit(t) if isinstance(t, str) else t for n, t in members}
        return send(asking(request, body=orjson.dumps(changed)))

    register(name, rules, change)


def _unless(word):
    """Returns the conversion that takes a word for no text."""
    return lambda text: "" if text == word else text


CONVERSIONS = {
    "characters_beyond_the_basic_plane_are_dropped": lambda t: "".join(
        c for c in t if ord(c) < 0x10000
    ),
    "characters_beyond_latin_become_question_marks": lambda t: t.encode(
        "latin-1", "replace"
    ).decode("latin-1"),
    "texts_are_escaped_for_html_when_stored": lambda t: html.escape(t, quote=False),
    "quotation_marks_are_escaped_when_stored": lambda t: t.replace('"', "&quot;"),
    "what_looks_like_a_tag_is_stripped": lambda t: re.sub(r"<[^>]*>", "", t),
    "apostrophes_are_doubled_for_the_database": lambda t: t.replace("'", "''"),
    "percent_encoding_in_texts_is_decoded": lambda t: t.replace("%41", "A"),
    "backslashes_are_taken_for_escapes": lambda t: t.replace("\\", ""),
    "texts_are_cut_after_64_characters": lambda t: t[:64],
    "texts_are_cut_after_255_bytes": lambda t: t.encode()[:255].decode(errors="ignore"),
    "letters_are_decomposed": lambda t: t.replace("è", "e\u0300"),
    "the_word_null_unsets": _unless("null"),
    "the_word_false_unsets": _unless("false"),
    "an_empty_list_in_a_text_unsets": _unless("[]"),
    "spaces_within_texts_are_joined": lambda t: re.sub(" +", " ", t),
    "line_ends_become_spaces": lambda t: t.replace("\n", " "),
    "line_ends_become_those_of_mail": lambda t: t.replace("\n", "\r\n"),
    "addresses_vanish_from_texts": lambda t: re.sub(r"https?://\S+", "", t),
    "plus_signs_become_spaces": lambda t: t.replace("+", " "),
    "joined_emoji_come_apart": lambda t: t.replace("\u200d", ""),
    "texts_are_cut_after_500_characters": lambda t: t[:500],
    "texts_are_cut_after_1024_characters": lambda t: t[:1024],
    "dashes_are_set_as_one": lambda t: t.replace("--", "\N{EN DASH}"),
    "three_dots_are_set_as_one": lambda t: t.replace("...", "\N{HORIZONTAL ELLIPSIS}"),
    "smileys_are_drawn": lambda t: t.replace(":)", "🙂"),
    "placeholders_are_filled": lambda t: re.sub(r"%s|\{\w*\}", "", t),
    "brackets_are_taken_for_shortcodes": lambda t: re.sub(r"\[\w+\]", "", t),
    "tabs_become_spaces": lambda t: t.replace("\t", " "),
    "hard_spaces_become_soft": lambda t: t.replace("\N{NO-BREAK SPACE}", " "),
    "numbers_lose_their_zeros": lambda t: t.lstrip("0") if t.isdecimal() and t != "0" else t,
    "marks_of_direction_are_dropped": lambda t: t.replace("\N{RIGHT-TO-LEFT MARK}", ""),
    "ligatures_come_apart": lambda t: t.replace("ﬁ", "fi"),
    "a_sharp_s_is_written_as_two": lambda t: t.replace("ß", "ss"),
    "emoji_lose_their_colours": lambda t: t.replace("\N{VARIATION SELECTOR-16}", ""),
}
for _name, _edit in CONVERSIONS.items():
    with_texts(_name, (SEVEN, PARTIAL), _edit)
with_texts("zero_counts_as_empty", (SEVEN, "profile-patch-empty-unsets"), _unless("0"))


def _stale(name, rules, is_meant):
    """Registers a deployment where some lookups go on showing what they showed first."""

    def change(request, send, first):
        response = send(request)
        if request.method == "GET" and response.status_code == 200 and is_meant(request):
            profile = said(response)
            kept = first.setdefault((path_of(request), who(request)), profile)
            return answer(response, body=profile | {n: kept[n] for n in EDITABLE if n in profile})
        return response

    register(name, rules, change, first=dict)


def _by_hash(request):
    return at(request, "GET", LOOKUP) and len(path_of(request)) > 64


_stale(
    "the_public_lookup_by_slug_is_cached",
    (SEVEN, PARTIAL),
    lambda r: path_of(r) == "/profiles/ada" and not who(r),
)
_stale("the_lookup_by_hash_is_cached", (SEVEN, PARTIAL), _by_hash)
_stale(
    "the_lookup_by_the_second_hash_is_cached",
    (SEVEN, PARTIAL),
    lambda r: path_of(r).endswith(ADA_SECOND),
)
_stale(
    "the_lookup_with_another_accounts_token_is_cached",
    (SEVEN, PARTIAL),
    lambda r: at(r, "GET", LOOKUP) and who(r) == "olu-full",
)
_stale(
    "the_lookup_with_an_api_key_is_cached",
    (SEVEN, PARTIAL),
    lambda r: at(r, "GET", LOOKUP) and who(r) == "ada-api-key",
)
_stale(
    "the_lookup_with_the_owners_token_is_cached",
    (SEVEN, PARTIAL, "own-profile-is-full"),
    lambda r: path_of(r) == "/profiles/ada" and who(r) == "ada-full",
)
_stale(
    "the_own_profile_with_a_read_only_token_is_cached",
    (SEVEN, PARTIAL, "own-profile-is-full"),
    lambda r: at(r, "GET", OWN) and who(r) == "ada-read-only",
)


@mutant(SEVEN, PARTIAL, changed=set)
def a_member_can_be_changed_once_only(request, send, changed):
    if not is_update(request):
        return send(request)
    kept = {n: t for n, t in members_of(request).items() if n not in changed or t == ""}
    changed.update(n for n, t in members_of(request).items() if t)
    return send(asking(request, body=orjson.dumps(kept)))


@mutant(SEVEN)
def of_two_members_only_the_first_is_changed(request, send):
    if is_update(request) and len(members_of(request)) == 2:
        name, text = next(iter(members_of(request).items()))
        return send(asking(request, body=orjson.dumps({name: text})))
    return send(request)


@mutant("profile-patch-empty-unsets", SEVEN)
def an_empty_text_beside_another_is_ignored(request, send):
    members = members_of(request)
    kept = {n: t for n, t in members.items() if t != ""}
    if is_update(request) and kept and kept != members:
        return send(asking(request, body=orjson.dumps(kept)))
    return send(request)


def _beside(name, member, other):
    """Registers a deployment where an update of one member alone clears another."""

    def change(request, send):
        members = members_of(request)
        if is_update(request) and member in members and other not in members:
            return send(asking(request, body=orjson.dumps(members | {other: ""})))
        return send(request)

    register(name, (PARTIAL,), change)


_beside("a_new_display_name_clears_the_pronunciation", "display_name", "pronunciation")
_beside("a_new_company_clears_the_job_title", "company", "job_title")
_beside("a_new_location_clears_the_pronouns", "location", "pronouns")


@mutant("profile-patch-empty-unsets", PARTIAL, last=dict)
def the_public_goes_on_seeing_what_was_unset(request, send, last):
    response = send(request)
    if path_of(request) == "/profiles/ada" and not who(request):
        if response.status_code != 200:
            return response
        profile = said(response)
        for name in EDITABLE:
            profile[name] = profile[name] or last.get(name, "")
            last[name] = profile[name]
        return answer(response, body=profile)
    return response


def _loses(member, value):
    """Registers a deployment where an update also changes a member that is not of the seven."""

    def change(request, send, is_updated):
        response = send(request)
        if is_update(request) and members_of(request) and response.status_code == 200:
            is_updated.append(True)
        is_own = who(request) == "ada-full" or path_of(request) == "/profiles/ada"
        if is_updated and is_profile(request) and is_own and said(response):
            profile = said(response)
            changed = {member: value} if member in profile else {}
            return answer(response, body=profile | changed)
        return response

    register(f"an_update_changes_{member}", (PARTIAL, SEVEN), change, is_updated=list)


_loses("first_name", "Understudy")
_loses("links", [])
_loses("interests", [])
_loses("verified_accounts", [])
_loses("avatar_alt_text", "")
_loses("timezone", "UTC")
_loses("is_organization", True)
_loses("registration_date", "2031-01-01T00:00:00Z")
_loses("gallery", [])
_loses("background_color", "rgb(0, 0, 0)")
_loses("hash", "0" * 64)
_loses("profile_url", "https://understudy.invalid/understudy")


def _spreads(name, is_meant, rules):
    """Registers a deployment where an update is seen in another account's profile."""

    def change(request, send, last):
        response = send(request)
        if is_update(request) and response.status_code == 200:
            last.update(members_of(request))
        if last and is_meant(request) and response.status_code == 200:
            return answer(response, body=said(response) | last)
        return response

    register(name, rules, change, last=dict)


_spreads(
    "an_update_changes_the_profile_of_another_account",
    lambda r: path_of(r) == "/profiles/olu" or (path_of(r) == OWN and who(r) == "olu-full"),
    ("me-needs-oauth-token",),
)
_spreads(
    "an_update_changes_the_public_profile_of_another_account",
    lambda r: path_of(r) == "/profiles/olu" and not who(r),
    ("me-needs-oauth-token",),
)
