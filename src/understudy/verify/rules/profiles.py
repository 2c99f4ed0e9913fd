"""Types and formats of the members of a profile (interface, Profile)."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

from understudy.exchange.messages import Exchange, split
from understudy.interface.operations import (
    AVATARS,
    PROFILES,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.interface.recognition import PROFILE_TEXTS, REQUIRED
from understudy.verify.checks import (
    CheckResult,
    Condition,
    check,
    demands,
    expect,
    holds_avatars,
    profile_has,
    succeeded,
    tells,
)
from understudy.verify.history import History, avatars_in, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import OPTIONAL, schema_error
from understudy.verify.value_texts import as_json, in_parts, instant

SLACK: Final = timedelta(minutes=10)
"""Allowed difference between the clocks of deployment and verify."""

MAY_BE_NULL: Final = frozenset({"last_profile_edit", "registration_date"})
EMPTY: Final[tuple[object, ...]] = (None, "", [], {})

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_UTC: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]00:00)")
_TO_THE_SECOND: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

_CONTAINERS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("languages", "links", "interests", "gallery"), list),
    **dict.fromkeys(("payments", "contact_info"), dict),
}


has_optional_member = tells(
    "the profile has an optional member",
    lambda it, _: any(name in profile_in(it) for name in OPTIONAL),
)


edits_something = tells(
    "the update names a member of the profile", lambda it, _: bool(it.request.json)
)


def lacks_a_value(exchange: Exchange, _history: History) -> bool:
    """Tells whether a required text of the profile is not set."""
    profile = profile_in(exchange)
    return bool(profile) and not all(
        isinstance(profile.get(name), str) and profile[name] for name in PROFILE_TEXTS
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
        name: schema_error(exchange.json_object[name], "Profile", "properties", name)
        for name in REQUIRED
        if name not in lacking
    }
    wrong = {name: text for name, text in errors.items() if text}
    return expect(
        not lacking and not wrong,
        "all twelve members",
        in_parts(
            lacking=lacking, wrong=[f"{name}, which is {text}" for name, text in wrong.items()]
        ),
    )


@check("unset-required-strings-empty", on=PROFILES, when=[lacks_a_value], is_shape=True)
def unset_texts_are_empty(exchange: Exchange, _history: History) -> CheckResult:
    """A required text that is not set is an empty text."""
    wrong = [name for name in PROFILE_TEXTS if not isinstance(profile_in(exchange).get(name), str)]
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
    return schema_error(value, "Profile", "properties", name)


@check("last-edit-utc", on=PROFILES, when=[profile_has("last_profile_edit")], is_shape=True)
def last_edit_is_in_utc(exchange: Exchange, _history: History) -> CheckResult:
    """The time of the last edit is a date and time in UTC (ISO 8601)."""
    value = profile_in(exchange)["last_profile_edit"]
    is_right = isinstance(value, str) and _utc(value) is not None
    return expect(is_right, "a date and time in UTC", value)


def _now(exchange: Exchange, which: Callable[[datetime, datetime], datetime] = max) -> datetime:
    """Returns the later time of a response's Date and the deployment's clock, or the earlier."""
    with suppress(ValueError):
        stated = parsedate_to_datetime(exchange.response.header("date") or "-")
        return which(stated.astimezone(UTC), exchange.at.astimezone(UTC))
    return exchange.at.astimezone(UTC)


@check("last-edit-utc", on=PROFILES, when=[profile_has("last_profile_edit")])
def last_edit_is_not_ahead(exchange: Exchange, _history: History) -> CheckResult:
    """The last edit is not after the response, as it would be if local time were labelled UTC."""
    return _expect_past(exchange, [profile_in(exchange)["last_profile_edit"]])


@check("last-edit-utc", on=[UPDATE_PROFILE], when=[succeeded, edits_something])
def last_edit_is_this_edit(exchange: Exchange, history: History) -> CheckResult:
    """The response to an edit has the current time as that of the last edit."""
    value, before = profile_in(exchange).get("last_profile_edit"), history.profile_before(exchange)
    is_kept = before is not None and profile_in(before).get("last_profile_edit") == value
    return _expect_recent(exchange, value, before if is_kept else None)


@check("avatar-members", on=[UPLOAD_AVATAR], when=[holds_avatars])
def upload_is_now(exchange: Exchange, _history: History) -> CheckResult:
    """The response to an upload has the current time as that of the avatar."""
    return _expect_recent(exchange, exchange.json_object.get("updated_date"))


def _expect_recent(exchange: Exchange, value: object, *evidence: Exchange | None) -> CheckResult:
    """Expects a time not much before the response; other checks judge malformed times."""
    since, moment = _now(exchange, min) - SLACK, _utc(value)
    is_old = moment is not None and moment < since
    return expect(not is_old, f"a time since {since:%H:%M} UTC", value, *evidence)


@check("avatar-members", on=[UPDATE_AVATAR], when=[holds_avatars])
def no_change_goes_back(exchange: Exchange, history: History) -> CheckResult:
    """The time of an avatar's change is not before that of its upload or previous change."""
    image, text = (str(exchange.json_object.get(each)) for each in ("image_id", "updated_date"))
    changes = history.of(UPLOAD_AVATAR, UPDATE_AVATAR)
    same = (each for each in changes if each.json_object.get("image_id") == image)
    before = next((each for each in same if each.at <= exchange.at), None)
    earlier = before.json_object.get("updated_date") if before is not None else ""
    then, now = _utc(earlier), _utc(text)
    is_back = then is not None and now is not None and now < then - SLACK
    return expect(not is_back, f"no time earlier than {earlier}", text, before)


@check("avatar-members", on=AVATARS, when=[holds_avatars])
def no_change_is_ahead(exchange: Exchange, history: History) -> CheckResult:
    """The last change of an avatar is not after the response."""
    dates = [avatar.get("updated_date") for avatar in avatars_in(exchange)]
    changed = history.last(UPLOAD_AVATAR, UPDATE_AVATAR, account=exchange.identity.account)
    return _expect_past(exchange, dates, changed)


def _expect_past(
    exchange: Exchange, values: Iterable[object], *evidence: Exchange | None
) -> CheckResult:
    until = _now(exchange) + SLACK
    moments = ((text, _utc(text)) for text in values)
    ahead = [text for text, moment in moments if moment is not None and moment > until]
    return expect(not ahead, f"no time later than {until:%H:%M} UTC", ahead, *evidence)


@check("registration-date-shapes", on=PROFILES, when=[profile_has("registration_date")])
def registration_is_not_ahead(exchange: Exchange, _history: History) -> CheckResult:
    """The registration is not after the response."""
    return _expect_past(exchange, [profile_in(exchange)["registration_date"]])


@check(
    "registration-date-shapes", on=PROFILES, when=[profile_has("registration_date")], is_shape=True
)
def registration_date_is_a_date(exchange: Exchange, _history: History) -> CheckResult:
    """The registration date is a date, or a date and time; the interface shows both."""
    value = profile_in(exchange)["registration_date"]
    error = schema_error(value, "Profile", "properties", "registration_date")
    is_right = not error and instant(value) is not None
    return expect(is_right, "a date, or a date and time", value)


@check("updated-date-utc", on=AVATARS, when=[holds_avatars])
def updated_date_is_in_utc(exchange: Exchange, _history: History) -> CheckResult:
    """An avatar's date of update is UTC to the second."""
    texts = [str(avatar.get("updated_date")) for avatar in avatars_in(exchange)]
    wrong = [text for text in texts if not (_TO_THE_SECOND.fullmatch(text) and instant(text))]
    return expect(not wrong, "UTC to the second, with Z", wrong)


def _utc(value: object) -> datetime | None:
    """Returns the moment that a text names in UTC; None for any other value."""
    return instant(value) if _UTC.fullmatch(str(value)) else None


@probe(
    "verified-accounts-at-most-four",
    "unset-required-strings-empty",
    "registration-date-shapes",
    "optional-fields-omitted",
    needs=("people",),
)
def lookups_of_known_people(client: ProbeClient) -> Parts:
    """Looks each further known person up with a token and without."""
    with_token = [who for who in ("api_key", "other", "owner") if client.has(who)]
    for slug in client.known.people:
        yield [client.get(f"/profiles/{slug}", who) for who in (*with_token[:1], "anonymous")]


# The parts of a profile: accounts, links, languages, wallets (interface, Resources).

_ZONE: Final = re.compile(
    r"[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+){1,2}|[A-Z][A-Za-z-]+|[A-Z]{3}\d[A-Z]{3}|GMT[+-]?0",
    re.ASCII,
)
"""Matches names of the IANA time zone database: area and place, or an old name such as UTC."""


def items_of(profile: Mapping[str, Any], *places: str) -> list[Any]:
    """Returns the items at paths of a profile, such as ``payments.links``, or the value there."""
    items: list[Any] = []
    for place in places:
        value: Any = profile
        for name in place.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        items += value if isinstance(value, list) else [] if value is None else [value]
    return items


def lists(*places: str) -> Condition:
    """Returns the condition that a profile has at least one item at these paths."""
    words = f"the profile lists {' or '.join(places)}"
    return tells(words, lambda it, _: bool(items_of(profile_in(it), *places)))


def expect_fit(values: Iterable[Any], schema: str) -> CheckResult:
    """Expects each value to be valid against a schema of the interface."""
    wrong = [text for text in (schema_error(value, schema) for value in values) if text]
    return expect(not wrong, f"as the interface has {schema}", wrong)


@check("language-positions", on=PROFILES, when=[lists("languages")])
def languages_have_places(exchange: Exchange, _history: History) -> CheckResult:
    """At most one language is the primary one, and no two have the same position."""
    items = items_of(profile_in(exchange), "languages")
    languages = [each for each in items if isinstance(each, dict)]
    primary = sum(each.get("is_primary") is True for each in languages)
    positions = [each["order"] for each in languages if isinstance(each.get("order"), int)]
    is_right = primary <= 1 and len(set(positions)) == len(positions)
    actual = f"{primary} primary languages, positions {as_json(positions)}"
    return expect(is_right, "one primary language at most, each in its own position", actual)


@check("timezone-name", on=PROFILES, when=[profile_has("timezone")], is_shape=True)
def timezone_is_named_in_iana_style(exchange: Exchange, _history: History) -> CheckResult:
    """A time zone is a name of the IANA database, not an offset from UTC."""
    name = profile_in(exchange)["timezone"]
    is_named = isinstance(name, str) and _ZONE.fullmatch(name)
    return expect(is_named, "a name such as Europe/Lisbon or UTC", name)


@check("payments-members", on=PROFILES, when=[profile_has("payments")], is_shape=True)
def payments_are_whole(exchange: Exchange, _history: History) -> CheckResult:
    """Payments hold links or wallets, in lists."""
    payments = profile_in(exchange)["payments"]
    error = schema_error(payments, "Payments")
    is_known = isinstance(payments, dict) and bool({"links", "crypto_wallets"} & set(payments))
    return expect(not error and is_known, "links and crypto_wallets", error or payments)


def _expect_items(exchange: Exchange, schema: str, *places: str) -> CheckResult:
    return expect_fit(items_of(profile_in(exchange), *places), schema)


# Rules that demand one outcome wherever their conditions hold.

of_profiles = demands(*PROFILES)
for _rule, _schema, *_places in (
    ("verified-account-members", "VerifiedAccount", "verified_accounts"),
    ("link-members", "Link", "links", "payments.links"),
    ("interest-members", "Interest", "interests"),
    ("language-members", "Language", "languages"),
    ("gallery-image-members", "GalleryImage", "gallery"),
    ("crypto-wallet-members", "CryptoWalletAddress", "payments.crypto_wallets"),
    ("contact-info-strings", "ContactInfo", "contact_info"),
):
    of_profiles(_rule, [lists(*_places)], _expect_items, _schema, *_places, is_shape=True)
