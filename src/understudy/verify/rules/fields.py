"""What stands in a profile, and in what form (interface, Resources and their fields)."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from understudy.deployments.exchange import NO_JSON, Exchange, split
from understudy.deployments.target import email_hash
from understudy.interface.operations import (
    AVATARS,
    LOOKUP,
    PROFILES,
    QR_CODE,
    RESOURCE,
    TOKEN,
    TOKEN_INFO,
)
from understudy.verify.checks import CheckResult, check, expect, expect_equal
from understudy.verify.history import History, avatars_in, profile_in
from understudy.verify.shapes import OPTIONAL, REQUIRED, REQUIRED_TEXTS, fault

MAY_BE_NULL: Final = frozenset({"last_profile_edit", "registration_date"})
EMPTY: Final[tuple[object, ...]] = (None, "", [], {})

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_UTC: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]00:00)")
_TO_THE_SECOND: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@check("hash-lower-case-hex", on=PROFILES)
def _hash(exchange: Exchange, _history: History) -> CheckResult | None:
    said = profile_in(exchange).get("hash")
    if said is None:
        return None
    return expect(_HASH.fullmatch(str(said)), "64 hexadecimal digits in lower case", said)


@check("email-hash-normalised", on=[LOOKUP, "GET /me/associated-email"])
def _normalised(exchange: Exchange, history: History) -> CheckResult | None:
    known = history.known
    unusual = [mail for mail in (*known.emails, *known.other_emails) if mail != _plain(mail)]
    asked = exchange.value or exchange.request.query.get("email_hash", "")
    if asked not in {email_hash(mail) for mail in unusual}:
        return None
    if exchange.operation == LOOKUP:
        return expect(exchange.status == 200, "the address is found", exchange.status)  # noqa: PLR2004 - OK
    owns = history.is_own(asked) if exchange.identity.account == "own" else None
    owns = history.is_others(asked) if exchange.identity.account == "other" else owns
    return (
        None
        if not owns
        else expect_equal(exchange.json_object.get("associated"), expected=True, what="it")
    )


def _plain(mail: str) -> str:
    return mail.strip().lower()


@check("optional-fields-omitted", on=[*PROFILES, *AVATARS])
def _omitted(exchange: Exchange, _history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    if not profile:
        return None
    found = [
        name
        for name in OPTIONAL
        if name in profile and profile[name] in EMPTY and profile[name] is not False
    ]
    found = [name for name in found if not (name in MAY_BE_NULL and profile[name] is None)]
    images = profile.get("gallery") or []
    texts = [image.get("alt_text", "-") for image in images if isinstance(image, dict)]
    found += ["gallery.alt_text" for text in texts if not text]
    if not found and not any(name in profile for name in OPTIONAL):
        return None
    return expect(not found, "what does not apply is left out", f"empty or null: {found}")


@check("json-bodies", on=[op for op in (*RESOURCE, TOKEN, TOKEN_INFO) if op != QR_CODE])
def _json(exchange: Exchange, _history: History) -> CheckResult | None:
    answer = exchange.response
    if not answer.body or exchange.request.method == "HEAD":
        return None
    is_json = answer.media_type == "application/json" and exchange.body is not NO_JSON
    return expect(is_json, "a body of JSON", f"{answer.media_type}: {answer.body[:80]!r}")


@check("profile-required-members", on=PROFILES)
def _required(exchange: Exchange, _history: History) -> CheckResult | None:
    if not exchange.response.is_success:
        return None
    lacking = [name for name in REQUIRED if name not in exchange.json_object]
    wrong = {
        n: fault(exchange.json_object[n], "Profile", "properties", n)
        for n in REQUIRED
        if n not in lacking
    }
    wrong = {name: text for name, text in wrong.items() if text}
    return expect(
        not lacking and not wrong, "all twelve members", f"lacking {lacking}, wrong {wrong}"
    )


@check("profile-hash-is-primary", on=PROFILES)
def _primary(exchange: Exchange, history: History) -> CheckResult | None:
    profile, known = profile_in(exchange), history.known
    is_me = exchange.operation != LOOKUP
    account = exchange.identity.account
    if not profile:
        return None
    if known.own_hashes and ((is_me and account == "own") or history.is_own(exchange.value)):
        return expect_equal(profile.get("hash"), known.own_hashes[0], "hash")
    if known.others_hashes and (
        (is_me and account == "other") or history.is_others(exchange.value)
    ):
        return expect_equal(profile.get("hash"), known.others_hashes[0], "hash")
    return None


@check("unset-required-strings-empty", on=PROFILES)
def _unset(exchange: Exchange, _history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    if not profile:
        return None
    wrong = [name for name in REQUIRED_TEXTS if not isinstance(profile.get(name), str)]
    if not wrong and all(profile[name] for name in REQUIRED_TEXTS):
        return None  # nothing is unset, so nothing was seen
    return expect(not wrong, "an empty text where nothing is set", f"no text: {wrong}")


@check("profile-url-full", on=PROFILES)
def _profile_url(exchange: Exchange, _history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    if "profile_url" not in profile:
        return None
    parts = split(str(profile["profile_url"]))
    is_full = parts.scheme in {"http", "https"} and bool(parts.netloc)
    return expect(is_full, "an absolute address", profile["profile_url"])


@check("profile-optional-types", on=PROFILES)
def _types(exchange: Exchange, _history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    present = [name for name in OPTIONAL if name in profile]
    faults = {name: _type_fault(name, profile[name]) for name in present}
    wrong = {name: text for name, text in faults.items() if text}
    return expect(not wrong, "the interface's types", wrong) if present else None


_KINDS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("languages", "links", "interests", "gallery"), list),
    **dict.fromkeys(("payments", "contact_info"), dict),
}


def _type_fault(name: str, value: Any) -> str:
    kind = _KINDS.get(name)
    if kind is not None:
        return "" if isinstance(value, kind) else f"{value!r:.60} is no {kind.__name__}"
    if value is None and name in MAY_BE_NULL:
        return ""
    return fault(value, "Profile", "properties", name)


@check("last-edit-utc", on=PROFILES)
def _last_edit(exchange: Exchange, _history: History) -> CheckResult | None:
    said = profile_in(exchange).get("last_profile_edit")
    if said is None:
        return None
    return expect(
        isinstance(said, str) and _UTC.fullmatch(said) and _instant(said),
        "a date and time in UTC",
        said,
    )


@check("registration-date-shapes", on=PROFILES)
def _registration(exchange: Exchange, _history: History) -> CheckResult | None:
    said = profile_in(exchange).get("registration_date")
    if said is None:
        return None
    wrong = fault(said, "Profile", "properties", "registration_date")
    return expect(not wrong and (_day(said) or _instant(said)), "a day, or a day and time", said)


@check("updated-date-utc", on=AVATARS)
def _updated(exchange: Exchange, _history: History) -> CheckResult | None:
    found = [str(avatar.get("updated_date")) for avatar in avatars_in(exchange)]
    wrong = [text for text in found if not (_TO_THE_SECOND.fullmatch(text) and _instant(text))]
    return expect(not wrong, "UTC to the second, with Z", wrong) if found else None


@check("avatar-urls-resolve")
def _resolves(exchange: Exchange, history: History) -> CheckResult | None:
    asked = exchange.request
    if asked.method != "GET" or exchange.operation or exchange.identity.kind != "none":
        return None
    for before in history.of(*PROFILES, *AVATARS):
        name = _named(before, asked.url)
        if name == "profile_url":
            return expect(
                exchange.response.is_success, "the profile's page", exchange.status, before
            )
        if name:
            is_picture = exchange.response.media_type.startswith("image/")
            actual = f"status {exchange.status}, {exchange.response.media_type}"
            return expect(exchange.response.is_success and is_picture, "a picture", actual, before)
    return None


def _named(exchange: Exchange, url: str) -> str:
    """Returns under which name an answer holds an address."""
    for avatar in avatars_in(exchange):
        if avatar.get("image_url") == url:
            return "image_url"
    profile = profile_in(exchange)
    return next((name for name, address in addresses_in(profile) if address == url), "")


def addresses_in(profile: Any) -> list[tuple[str, str]]:
    """Returns the addresses in a profile that the service itself answers at, with their names."""
    found = [(name, str(profile.get(name) or "")) for name in ("avatar_url", "profile_url")]
    header = re.search(r"url\(['\"]?([^'\")]+)", str(profile.get("header_image", "")))
    found += [("header_image", header[1])] if header else []
    for name, key in (("gallery", "url"), ("verified_accounts", "service_icon")):
        items = [item for item in profile.get(name) or () if isinstance(item, dict)]
        found += [(name, str(item.get(key, ""))) for item in items]
    return [(name, url) for name, url in found if url]


def _instant(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
