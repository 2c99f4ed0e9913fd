"""What stands in an account, read so that it can be put back.

What is no real answer is refused, and so the write that it was read for: a page that says 200 to
everything says nothing of what it would be put back to.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from understudy.deployments.exchange import NO_JSON, Exchange, Request
from understudy.deployments.refusals import NotPermitted
from understudy.interface.operations import Place
from understudy.verify.probe_client import ProbeClient
from understudy.verify.shapes import EDITABLE

SAID_OF_AVATAR = ("rating", "alt_text")
"""What an update can change of an avatar."""


class Before(Struct):
    """What stood in an account before the run changed it.

    Attributes:
        profile: The seven fields, as far as they were told; None while none was changed.
        avatars: Image id to rating and text alternative; None while none was changed.
        selected: E-mail hash, empty for the primary, to the image selected there.
    """

    profile: dict[str, str] | None = None
    avatars: dict[str, dict[str, str]] | None = None
    selected: dict[str, str | None] = field(default_factory=dict)


def profile(client: ProbeClient, who: str) -> dict[str, str]:
    """Returns the fields of an account's profile that can be edited.

    Raises:
        Refusal: They cannot be read.
    """
    exchange = _read(client.get("/me/profile", who))
    found = {
        n: exchange.json_object[n] for n in EDITABLE if isinstance(exchange.json_object.get(n), str)
    }
    if not found:
        raise _no_answer(exchange, "profile")
    return found


def avatars(client: ProbeClient, who: str) -> dict[str, dict[str, str]]:
    """Returns an account's avatars, each with what can be changed of it.

    Raises:
        Refusal: They cannot be read.
    """
    return {
        item["image_id"]: {n: item[n] for n in SAID_OF_AVATAR if isinstance(item.get(n), str)}
        for item in _listed(client, who, "")
    }


def selected(client: ProbeClient, who: str, hash_: str) -> str | None:
    """Returns the avatar that is selected for an e-mail address.

    Raises:
        Refusal: It cannot be read.
    """
    chosen = [item["image_id"] for item in _listed(client, who, hash_) if item.get("selected")]
    return chosen[0] if chosen else None


def expect_told(request: Request, before: Mapping[str, str]) -> None:
    """Makes sure that each field which an update names was told before.

    Raises:
        NotPermitted: One was not, so it could not be put back.
    """
    named = request.json if isinstance(request.json, dict) else EDITABLE
    for name in EDITABLE:
        if name in named and name not in before:
            msg = f"what stands in {name} is not told, so it could not be put back"
            raise NotPermitted(msg)


def named_in(place: Place, known: Mapping[str, object]) -> list[str]:
    """Returns the avatars that an address names, however it spells them."""
    values = [value.casefold() for value in place.values]
    return [image for image in known if image.casefold() in values]


def _listed(client: ProbeClient, who: str, hash_: str) -> list[dict[str, Any]]:
    query = {"selected_email_hash": hash_} if hash_ else ()
    exchange = _read(client.get("/me/avatars", who, query))
    body = exchange.body
    if not isinstance(body, list) or not all(
        isinstance(item, dict) and isinstance(item.get("image_id"), str) for item in body
    ):
        raise _no_answer(exchange, "list of avatars")
    return body


def _read(exchange: Exchange) -> Exchange:
    if not exchange.response.is_success:
        msg = f"what stands there cannot be read first: status {exchange.status}"
        raise NotPermitted(msg)
    return exchange


def _no_answer(exchange: Exchange, what: str) -> NotPermitted:
    kind = exchange.response.media_type or "no content type"
    is_json = "" if exchange.body is NO_JSON else " of another shape"
    return NotPermitted(f"what stands there cannot be read first: {kind}{is_json} is no {what}")
