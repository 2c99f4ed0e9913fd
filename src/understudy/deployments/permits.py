"""Decides whether a request may be sent at all, as a function of values.

The gateway asks before every request, whatever made it, because filters further up leak.
"""

from collections.abc import Collection
from urllib.parse import urlsplit

from understudy.deployments.exchange import Identity, Request
from understudy.deployments.target import Target
from understudy.interface.operations import (
    AUTHORIZE,
    DELETE_AVATAR,
    SET_AVATAR,
    TOKEN,
    UPDATE_AVATAR,
    UPLOAD_AVATAR,
    Place,
)

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
HARMLESS = frozenset({"none", "invalid", "api_key"})
"""Kinds of credentials that belong to no account, so a write with them changes no account."""


def described(target: Target) -> list[str]:
    """Returns what a target permits, one line for each permission."""
    modes = {
        "observe": "mode observe: nothing is written to the resource API",
        "own": "mode own: the account of the access token is changed and restored",
        "full": "mode full: whatever the credentials allow is changed; what can be undone is undone",
    }
    is_issuing = target.permit.tokens
    tokens = "codes and tokens are issued, which remain" if is_issuing else "no token is issued"
    lines = [
        modes[target.writes],
        f"[permit] tokens = {str(is_issuing).lower()}: {tokens}; the mode does not decide this",
    ]
    permissions = {
        "uploads": (target.permit.uploads, "avatars are uploaded and deleted"),
        "exhaust_rate_limit": (target.permit.exhaust_rate_limit, "an hour's requests are used up"),
        "clock": (target.permit.clock, "the mock's clock is moved and restored"),
    }
    lines += [
        f"[permit] {key} = true: {text}" for key, (is_on, text) in permissions.items() if is_on
    ]
    return lines


def fault(
    request: Request,
    place: Place,
    identity: Identity,
    target: Target,
    made: Collection[str],
    *,
    is_undo: bool = False,
) -> str | None:
    """Returns why a request may not be sent, or None.

    Args:
        request: The request to send.
        place: Its operation and server.
        identity: Its account and credential.
        target: The permissions.
        made: Ids of the avatars that this run uploaded.
        is_undo: True if it restores something, which may concern any avatar of the account.
    """
    if place.site == "elsewhere":
        return _elsewhere(request, target)
    if place.site == "authorization":
        return _authorization(request, place, target)
    if request.method in SAFE:
        return None
    if is_undo:
        return None  # the run, or an earlier one, was permitted to change what this restores
    return _write(place, identity, target, made)


def _elsewhere(request: Request, target: Target) -> str | None:
    host = urlsplit(request.url).netloc
    known = {urlsplit(url).netloc for url in (target.base_url, target.auth_url or "")}
    if host not in known:
        return f"{host} is not a host of the deployment"
    if request.method != "GET" or request.header("authorization"):
        return "outside the two APIs only GET requests without credentials are sent"
    return None


def _authorization(request: Request, place: Place, target: Target) -> str | None:
    if target.permit.tokens:
        return None
    is_decided = place.operation == AUTHORIZE and any(
        shortcut and shortcut.partition("=")[0] in request.query
        for shortcut in (target.application.approve, target.application.deny)
    )
    if place.operation == TOKEN or request.method not in SAFE or is_decided:
        return "issuing tokens is not permitted: [permit] tokens = true"
    return None


def _write(place: Place, identity: Identity, target: Target, made: Collection[str]) -> str | None:
    mode = target.writes
    if mode == "observe":
        return "writing is not permitted: the mode is observe"
    if identity.kind in HARMLESS:
        return None
    if place.operation == UPLOAD_AVATAR and not target.permit.uploads:
        return "uploading is not permitted: [permit] uploads = true"
    if mode == "full":
        return None
    if not place.operation:
        return "the document does not declare this operation, and the mode is not full"
    return _write_of_own(place, identity, made)


def _write_of_own(place: Place, identity: Identity, made: Collection[str]) -> str | None:
    avatar = place.values[0] if place.values else None
    is_made = avatar in made or (avatar or "").startswith("understudy-made-up")
    if place.operation in {DELETE_AVATAR, UPDATE_AVATAR, SET_AVATAR}:
        return None if is_made else "the avatar was not uploaded by this run"
    if identity.account != "own":
        return "the mode is own, and this is another account"
    return None
