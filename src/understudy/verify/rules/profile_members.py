"""The members of a profile: which there are, and of what type and form (interface, Profile)."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from understudy.exchange.messages import Exchange, split
from understudy.interface.operations import AVATARS, PROFILES
from understudy.verify.checks import (
    CheckResult,
    check,
    expect,
    holds_avatars,
    profile_has,
    succeeded,
)
from understudy.verify.history import History, avatars_in, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import OPTIONAL, REQUIRED, REQUIRED_TEXTS, fault
from understudy.verify.value_texts import as_json

MAY_BE_NULL: Final = frozenset({"last_profile_edit", "registration_date"})
EMPTY: Final[tuple[object, ...]] = (None, "", [], {})

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_UTC: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]00:00)")
_TO_THE_SECOND: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

_CONTAINERS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("languages", "links", "interests", "gallery"), list),
    **dict.fromkeys(("payments", "contact_info"), dict),
}


def has_optional_member(exchange: Exchange, _history: History) -> bool:
    """Tells whether the profile has an optional member."""
    return any(name in profile_in(exchange) for name in OPTIONAL)


def lacks_a_value(exchange: Exchange, _history: History) -> bool:
    """Tells whether a required text of the profile is not set."""
    profile = profile_in(exchange)
    return bool(profile) and not all(
        isinstance(profile.get(name), str) and profile[name] for name in REQUIRED_TEXTS
    )


@check("hash-lower-case-hex", on=PROFILES, when=[profile_has("hash")], is_shape=True)
def hash_is_lower_case_hex(exchange: Exchange, _history: History) -> CheckResult:
    """The hash of a profile is 64 hexadecimal digits in lower case."""
    value = profile_in(exchange)["hash"]
    return expect(_HASH.fullmatch(str(value)), "64 hexadecimal digits in lower case", value)


@check("optional-fields-omitted", on=PROFILES, when=[has_optional_member])
def optional_members_are_omitted(exchange: Exchange, _history: History) -> CheckResult:
    """An optional member that does not apply is left out; two dates may be null (interface)."""
    profile = profile_in(exchange)
    empty = [
        name
        for name in OPTIONAL
        if name in profile and profile[name] in EMPTY and profile[name] is not False
    ]
    empty = [name for name in empty if not (name in MAY_BE_NULL and profile[name] is None)]
    images = profile.get("gallery") or []
    texts = [image.get("alt_text", "-") for image in images if isinstance(image, dict)]
    empty += ["gallery.alt_text" for text in texts if not text]
    return expect(
        not empty, "a member that does not apply is left out", f"empty or null: {as_json(empty)}"
    )


@check("profile-required-members", on=PROFILES, when=[succeeded], is_shape=True)
def required_members_are_there(exchange: Exchange, _history: History) -> CheckResult:
    """A profile has all twelve required members, each of its type."""
    lacking = [name for name in REQUIRED if name not in exchange.json_object]
    errors = {
        name: fault(exchange.json_object[name], "Profile", "properties", name)
        for name in REQUIRED
        if name not in lacking
    }
    wrong = {name: text for name, text in errors.items() if text}
    return expect(
        not lacking and not wrong,
        "all twelve members",
        f"lacking {as_json(lacking)}, wrong {as_json(wrong)}",
    )


@check("unset-required-strings-empty", on=PROFILES, when=[lacks_a_value], is_shape=True)
def unset_texts_are_empty(exchange: Exchange, _history: History) -> CheckResult:
    """A required text that is not set is an empty text."""
    wrong = [name for name in REQUIRED_TEXTS if not isinstance(profile_in(exchange).get(name), str)]
    return expect(not wrong, "an empty text where nothing is set", f"no text: {as_json(wrong)}")


@check("profile-url-full", on=PROFILES, when=[profile_has("profile_url")])
def profile_url_is_absolute(exchange: Exchange, _history: History) -> CheckResult:
    """The profile's URL is absolute."""
    url = profile_in(exchange)["profile_url"]
    parts = split(str(url))
    is_absolute = parts.scheme in {"http", "https"} and bool(parts.netloc)
    return expect(is_absolute, "an absolute URL", url)


@check("profile-optional-types", on=PROFILES, when=[has_optional_member], is_shape=True)
def optional_members_have_their_types(exchange: Exchange, _history: History) -> CheckResult:
    """Optional members have the interface's types."""
    profile = profile_in(exchange)
    errors = {name: _type_error(name, profile[name]) for name in OPTIONAL if name in profile}
    wrong = {name: text for name, text in errors.items() if text}
    return expect(not wrong, "the interface's types", wrong)


def _type_error(name: str, value: Any) -> str:
    container = _CONTAINERS.get(name)
    if container is not None:  # its content is judged by the rules of its parts
        is_right = isinstance(value, container)
        return "" if is_right else f"{as_json(value):.60} is not a {container.__name__}"
    if value is None and name in MAY_BE_NULL:
        return ""
    return fault(value, "Profile", "properties", name)


@check("last-edit-utc", on=PROFILES, when=[profile_has("last_profile_edit")], is_shape=True)
def last_edit_is_in_utc(exchange: Exchange, _history: History) -> CheckResult:
    """The time of the last edit is a date and time in UTC (ISO 8601)."""
    value = profile_in(exchange)["last_profile_edit"]
    is_right = isinstance(value, str) and _UTC.fullmatch(value) and _is_instant(value)
    return expect(is_right, "a date and time in UTC", value)


@check(
    "registration-date-shapes", on=PROFILES, when=[profile_has("registration_date")], is_shape=True
)
def registration_date_is_a_date(exchange: Exchange, _history: History) -> CheckResult:
    """The registration date is a date, or a date and time; the interface has both."""
    value = profile_in(exchange)["registration_date"]
    error = fault(value, "Profile", "properties", "registration_date")
    is_right = not error and (_is_date(value) or _is_instant(value))
    return expect(is_right, "a date, or a date and time", value)


@check("updated-date-utc", on=AVATARS, when=[holds_avatars])
def updated_date_is_in_utc(exchange: Exchange, _history: History) -> CheckResult:
    """An avatar's date of update is UTC to the second."""
    texts = [str(avatar.get("updated_date")) for avatar in avatars_in(exchange)]
    wrong = [text for text in texts if not (_TO_THE_SECOND.fullmatch(text) and _is_instant(text))]
    return expect(not wrong, "UTC to the second, with Z", wrong)


def _is_instant(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


@probe(
    *("verified-accounts-at-most-four", "unset-required-strings-empty"),
    *("registration-date-shapes", "optional-fields-omitted"),
    needs=("people",),
)
def lookups_of_known_people(client: ProbeClient) -> Parts:
    """Looks each further known person up with a token and without."""
    with_token = [who for who in ("api_key", "other", "owner") if client.has(who)]
    for slug in client.known.people:
        yield [client.get(f"/profiles/{slug}", who) for who in (*with_token[:1], "anonymous")]
