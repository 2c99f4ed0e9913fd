"""Reads the state of an account before it is changed, so that it can be restored.

A response that does not hold the state is refused, and with it the write that it was read for: a
web page that responds 200 to everything does not tell what to restore.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from understudy.deployments.refusals import NotPermitted
from understudy.exchange.messages import NO_JSON, Exchange, Request
from understudy.interface.operations import Place
from understudy.verify.probe_client import ProbeClient
from understudy.verify.shapes import EDITABLE

AVATAR_FIELDS = ("rating", "alt_text")
"""The fields of an avatar that an update can change."""


class AccountBefore(Struct):
    """The state of an account before the run changed it.

    Attributes:
        profile: The editable fields that the response held; None until one is changed.
        avatars: Image id to rating and text alternative; None until an avatar is changed.
        selected: E-mail hash, empty for the primary address, to the selected image.
    """

    profile: dict[str, str] | None = None
    avatars: dict[str, dict[str, str]] | None = None
    selected: dict[str, str | None] = field(default_factory=dict)


def profile(client: ProbeClient, who: str) -> dict[str, str]:
    """Returns the editable fields of an account's profile.

    Raises:
        Refusal: They cannot be read.
    """
    exchange = _read(client.get("/me/profile", who))
    fields = {
        n: exchange.json_object[n] for n in EDITABLE if isinstance(exchange.json_object.get(n), str)
    }
    if not fields:
        raise _unreadable(exchange, "profile")
    return fields


def avatars(client: ProbeClient, who: str) -> dict[str, dict[str, str]]:
    """Returns an account's avatars by image id, each with its editable fields.

    Raises:
        Refusal: They cannot be read.
    """
    return {
        item["image_id"]: {n: item[n] for n in AVATAR_FIELDS if isinstance(item.get(n), str)}
        for item in _listed(client, who, "")
    }


def selected(client: ProbeClient, who: str, hash_: str) -> str | None:
    """Returns the image selected for an e-mail hash, None without one.

    Raises:
        Refusal: It cannot be read.
    """
    chosen = [item["image_id"] for item in _listed(client, who, hash_) if item.get("selected")]
    return chosen[0] if chosen else None


def expect_known(request: Request, before: Mapping[str, str]) -> None:
    """Makes sure that the current value of each field in an update is known.

    Raises:
        NotPermitted: One is unknown, so it could not be restored.
    """
    named = request.json if isinstance(request.json, dict) else EDITABLE
    for name in EDITABLE:
        if name in named and name not in before:
            msg = f"the current value of {name} is unknown, so the change could not be undone"
            raise NotPermitted(msg)


def named_in(place: Place, known: Mapping[str, object]) -> list[str]:
    """Returns the avatars that a path names, in any case."""
    values = [value.casefold() for value in place.values]
    return [image for image in known if image.casefold() in values]


def _listed(client: ProbeClient, who: str, hash_: str) -> list[dict[str, Any]]:
    query = {"selected_email_hash": hash_} if hash_ else ()
    exchange = _read(client.get("/me/avatars", who, query))
    body = exchange.body
    if not isinstance(body, list) or not all(
        isinstance(item, dict) and isinstance(item.get("image_id"), str) for item in body
    ):
        raise _unreadable(exchange, "list of avatars")
    return body


def _read(exchange: Exchange) -> Exchange:
    if not exchange.response.is_success:
        msg = f"the current state cannot be read before the change: status {exchange.status}"
        raise NotPermitted(msg)
    return exchange


def _unreadable(exchange: Exchange, expected: str) -> NotPermitted:
    media_type = exchange.response.media_type or "no content type"
    shape = "" if exchange.body is NO_JSON else " of another shape"
    return NotPermitted(
        "the current state cannot be read before the change: "
        f"the response is {media_type}{shape}, not a {expected}"
    )
