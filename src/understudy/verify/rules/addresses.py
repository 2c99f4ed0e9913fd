"""Every URL in a response leads to what it names (interface, What the service does)."""

import re
from typing import Any

from understudy.exchange.messages import Exchange
from understudy.interface.operations import AVATARS, PROFILES
from understudy.verify.checks import CheckResult, check, expect, is_get, proven
from understudy.verify.history import History, avatars_in, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe


def addresses_in(profile: Any) -> list[tuple[str, str]]:
    """Returns the URLs of a profile that the service itself serves, with their names."""
    addresses = [(name, str(profile.get(name) or "")) for name in ("avatar_url", "profile_url")]
    header = re.search(r"url\(['\"]?([^'\")]+)", str(profile.get("header_image", "")))
    addresses += [("header_image", header[1])] if header else []
    for name, key in (("gallery", "url"), ("verified_accounts", "service_icon")):
        items = [item for item in profile.get(name) or () if isinstance(item, dict)]
        addresses += [(name, str(item.get(key, ""))) for item in items]
    return [(name, url) for name, url in addresses if url]


def _name_in(exchange: Exchange, url: str) -> str:
    """Returns under which name a response holds a URL; empty where it does not."""
    if any(avatar.get("image_url") == url for avatar in avatars_in(exchange)):
        return "image_url"
    addresses = addresses_in(profile_in(exchange))
    return next((name for name, address in addresses if address == url), "")


def named_in(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest response that contains the requested URL."""
    url = exchange.request.url
    return next((each for each in history.of(*PROFILES, *AVATARS) if _name_in(each, url)), None)


def is_of_no_operation(exchange: Exchange, _history: History) -> bool:
    """Tells whether an anonymous client requests what is not an operation."""
    return not exchange.operation and exchange.identity.kind == "none"


def was_named(exchange: Exchange, history: History) -> bool:
    """Tells whether an earlier response holds the URL."""
    return named_in(exchange, history) is not None


@check("avatar-urls-resolve", when=[is_of_no_operation, is_get, was_named])
def address_leads_to_what_it_names(exchange: Exchange, history: History) -> CheckResult:
    """The profile's URL leads to its page, and every other one to a picture."""
    before = proven(named_in(exchange, history))
    is_success = exchange.response.is_success
    if _name_in(before, exchange.request.url) == "profile_url":
        return expect(is_success, "the profile's page", exchange.status, before)
    is_picture = exchange.response.media_type.startswith("image/")
    actual = f"status {exchange.status}, {exchange.response.media_type}"
    return expect(is_success and is_picture, "a picture", actual, before)


@probe("avatar-urls-resolve", needs=("slug",))
def addresses_of_profile(client: ProbeClient) -> Parts:
    """Follows the URLs in a profile that the service itself serves, one of each kind."""
    able = (who for who in ("owner", "api_key") if client.has(who))
    who = next(able, "anonymous")
    profile = profile_in(client.recall(f"/profiles/{client.known.slug}", who, is_lasting=True))
    for url in dict(addresses_in(profile)).values():
        yield client.get(url)


@probe("avatar-urls-resolve", needs=("owner",))
def address_of_avatar(client: ProbeClient) -> None:
    """Follows the URL of the first avatar."""
    for avatar in avatars_in(client.recall("/me/avatars", "owner", is_lasting=True))[:1]:
        client.get(str(avatar.get("image_url")))
