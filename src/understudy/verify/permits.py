"""Decides whether a request may be sent at all, as a function of values.

The gateway asks before every request, whoever made it, because filters further up leak. A refusal
ends a probe, but not the run:

Refusal
├── NotPermitted    the mode or a permission rules the request out
├── BudgetSpent     the requests of the hour or of the run are used up
├── OutOfTime       the time of the run is used up
└── Unreachable     the deployment did not respond
"""

from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import urlsplit

from understudy.exchange.messages import Exchange, Identity, Request
from understudy.interface.operations import (
    AUTHORIZE,
    DELETE_AVATAR,
    RESOURCE,
    SET_AVATAR,
    TOKEN,
    UPDATE_AVATAR,
    UPLOAD_AVATAR,
    Place,
)
from understudy.verify.target import Target

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
HARMLESS = frozenset({"none", "invalid", "api_key"})
"""Kinds of credentials that belong to no account, so a write with them changes no account."""


class Made(NamedTuple):
    """The avatars and tokens that a run has made at a deployment.

    Attributes:
        avatars: Ids of the avatars that it uploaded.
        tokens: The number of tokens that were issued to it, or may be by requests under way.
        is_undoable: True if the run knows how to undo the request to another service.
    """

    avatars: Collection[str]
    tokens: int
    is_undoable: bool = False


def permission_lines(target: Target) -> list[str]:
    """Returns what a target permits, one line for each permission."""
    modes = {
        "observe": "mode observe: nothing is written to the resource API",
        "own": "mode own: the account of the access token is changed and restored",
        "full": "mode full: whatever the credentials allow is changed; what can be undone is undone",
    }
    is_issuing, most = target.permit.tokens, target.permit.max_tokens
    tokens = "codes and tokens are issued, which remain" if is_issuing else "no token is issued"
    if is_issuing and most is not None:
        tokens += f", at most {most} tokens (max_tokens)"
    lines = [
        modes[target.writes],
        f"[permit] tokens = {str(is_issuing).lower()}: {tokens}; the mode does not decide this",
    ]
    permissions = {
        "uploads": (target.permit.uploads, "avatars are uploaded and deleted"),
        "fill_account": (target.permit.fill_account, "an account with avatars is filled up"),
        "long_texts": (target.permit.long_texts, "texts of over 100 characters are replaced"),
        "exhaust_rate_limit": (target.permit.exhaust_rate_limit, "an hour's requests are used up"),
        "clock": (target.permit.clock, "the mock's clock is moved and restored"),
    }
    lines += [
        f"[permit] {key} = true: {text}" for key, (is_on, text) in permissions.items() if is_on
    ]
    return lines


def obstacle(
    request: Request,
    place: Place,
    identity: Identity,
    target: Target,
    made: Made,
    *,
    is_undo: bool = False,
) -> str | None:
    """Returns why a request may not be sent, or None.

    Args:
        request: The request to send.
        place: Its operation and server.
        identity: Its account and credential.
        target: The permissions.
        made: What this run has made at the deployment.
        is_undo: True if it undoes a change, which may concern any avatar of the account.
    """
    if place.site == "elsewhere":
        return _elsewhere(request, target)
    if place.site == "authorization":
        return _authorization(request, place, target, made)
    if request.method in SAFE:
        return None
    if is_undo:
        return None  # the run, or an earlier one, was permitted to change what this restores
    reason = None if made.is_undoable else _not_undoable(place, target)
    return reason or _write(place, identity, target, made.avatars)


def _elsewhere(request: Request, target: Target) -> str | None:
    host = urlsplit(request.url).netloc
    known = {urlsplit(url).netloc for url in (target.base_url, target.auth_url or "")}
    if host not in known:
        return f"{host} is not a host of the deployment"
    if request.method not in {"GET", "HEAD"} or request.header("authorization"):
        return "outside the two APIs only GET and HEAD requests without credentials are sent"
    return None


def _authorization(request: Request, place: Place, target: Target, made: Made) -> str | None:
    most = target.permit.max_tokens
    if target.permit.tokens and (most is None or made.tokens < most):
        return None
    is_decided = place.operation == AUTHORIZE and any(
        shortcut and shortcut.partition("=")[0] in request.query
        for shortcut in (target.application.approve, target.application.deny)
    )
    if place.operation != TOKEN and request.method in SAFE and not is_decided:
        return None
    if target.permit.tokens:
        return f"no more tokens may be issued: [permit] max_tokens = {most}"
    return "issuing tokens is not permitted: [permit] tokens = true"


def _not_undoable(place: Place, target: Target) -> str | None:
    """Returns why a write to another service is not sent, with any credential, or None."""
    if target.writes != "own" or not place.operation or place.operation in RESOURCE:
        return None
    return f"it is not known how to undo {place.operation}, and the mode is not full"


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


class Refusal(Exception):
    """A request was not sent or got no response; the text is the reason that reports show."""


class NotPermitted(Refusal):
    """The mode or a permission rules the request out."""


class BudgetSpent(Refusal):
    """The requests of the hour or of the run are used up."""


class OutOfTime(Refusal):
    """The time of the run is used up."""


class Unreachable(Refusal):
    """The deployment did not respond.

    Args:
        message: The cause.
        exchange: The request, with a response of status 0.
    """

    def __init__(self, message: str, exchange: Exchange) -> None:
        super().__init__(message)
        self.exchange = exchange
