"""Reads the accounts that a target names: profiles, avatars, pictures, the scopes of its token.

Only what the target's own credentials show is read, with few requests and no writes. The result is
kept in memory, for a mock that has the same people.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Literal

from understudy.exchange.messages import Exchange
from understudy.record.generated_pictures import PictureForm, form_of
from understudy.verify.deployment import Deployment, locked
from understudy.verify.permits import NotPermitted, Unreachable
from understudy.verify.pictures import avatars
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import RunOptions, start

MOST_PICTURES: Final = 20
"""Pictures of an account that are fetched for their size and kind; others are taken as usual."""

HEADER: Final = "header"
"""The place of the header image among the pictures of a profile; the gallery's are numbers."""

UNKNOWN_SLUG: Final = "understudy-disabled"
"""The slug of a disabled account of which the target names the token alone."""

USUAL_FORM: Final = PictureForm("PNG", 80, 80)
"""The form of a picture that was not fetched."""

Visibility = Literal["public", "private", "disabled"]


@dataclass(frozen=True, slots=True)
class AvatarSeen:
    """An avatar of an account.

    Attributes:
        members: The avatar as it was listed.
        picture: The form of its picture.
        selected_for: Places of the e-mail addresses that it is selected for.
    """

    members: Mapping[str, Any]
    picture: PictureForm
    selected_for: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AccountSeen:
    """An account as the target's credentials show it.

    Attributes:
        name: ``own``, ``other``, ``private``, ``disabled``, or the slug of a further person.
        slug: The slug of its profile.
        profile: The fullest profile that was read; empty where none was.
        avatars: The avatars in the order of the list; None where no list was read.
        visibility: Who finds the profile.
        scopes: Scopes of the target's access token as token-info names them; None if unknown.
        pictures: The forms of the pictures of the profile, by their places.
    """

    name: str
    slug: str
    profile: Mapping[str, Any]
    avatars: tuple[AvatarSeen, ...] | None = None
    visibility: Visibility = "public"
    scopes: tuple[str, ...] | None = None
    pictures: Mapping[str, PictureForm] = field(default_factory=dict)


def read_accounts(deployment: Deployment) -> list[AccountSeen]:
    """Reads the accounts of a deployment.

    Raises:
        StartupError: A file is not as it must be, or another run uses the ledger.
        BudgetSpent: The requests of the hour are used up.
        OutOfTime: The time of the run is used up.
    """
    with locked(deployment):
        run = start(deployment, RunOptions(rules=(), needs_interface=False))
        reader = _Reader(ProbeClient(run.gateway, "people"))
        return list(reader.accounts())


class _Reader:
    """Reads accounts by one client, which goes on where a request cannot be sent."""

    def __init__(self, client: ProbeClient) -> None:
        self._client = client

    def accounts(self) -> Iterator[AccountSeen]:
        """Yields the accounts that the target names, the test account first."""
        known = self._client.target.known  # what is absent is looked for without it
        yield from self._account("own", "owner", known.slug, known.own_hashes)
        yield from self._account("other", "other", known.other_slug, known.others_hashes)
        yield from self._account("private", "private", known.private_slug, (), "private")
        yield from self._account("disabled", "disabled", known.disabled_slug, (), "disabled")
        for slug in dict.fromkeys((*known.people, known.hidden_contact_slug)):
            if slug is not None:
                yield from self._account(slug, "", slug, ())

    def _account(
        self,
        name: str,
        who: str,
        slug: str | None,
        hashes: Sequence[str],
        visibility: Visibility = "public",
    ) -> Iterator[AccountSeen]:
        """Yields an account; none where the target says nothing of it.

        Args:
            name: Of the account.
            who: The credential of its owner; empty without one.
            slug: Of its profile; None to take it from the profile's URL.
            hashes: Of its e-mail addresses.
            visibility: Who finds the profile.
        """
        is_owner = bool(who) and self._client.has(who)
        if slug is None and not is_owner:
            return
        profile = self._json("/me/profile", who) if is_owner else {}
        if not profile and slug is not None and visibility == "public":
            profile = self._json(f"/profiles/{slug}", self._reader())
        slug = slug or str(profile.get("profile_url", "")).rstrip("/").rpartition("/")[2]
        if not slug and visibility == "disabled":
            slug = UNKNOWN_SLUG  # which no client can read
        if not slug:
            return
        listed = self._avatars(who, hashes) if is_owner and visibility == "public" else None
        if listed is None and profile.get("avatar_url"):
            listed = (self._linked_avatar(profile),)
        scopes = self._scopes() if name == "own" and is_owner else None
        pictures = {place: self._picture(url) for place, url in _linked_pictures(profile)}
        yield AccountSeen(name, slug, profile, listed, visibility, scopes, pictures)

    def _reader(self) -> str:
        """Returns the name of a credential that reads others' profiles."""
        names = ("api_key", "owner", "other")
        return next((name for name in names if self._client.has(name)), "anonymous")

    def _avatars(self, who: str, hashes: Sequence[str]) -> tuple[AvatarSeen, ...] | None:
        """Returns the avatars of an account, with the addresses that each is selected for."""
        listing = self._sent(lambda: avatars(self._client, None, who))
        if listing is None or not isinstance(listing.body, list):
            return None
        items = [item for item in listing.body if isinstance(item, dict)]
        selected = [self._selected(who, hash_) for hash_ in hashes]
        return tuple(
            AvatarSeen(
                item,
                self._picture(item.get("image_url")) if place < MOST_PICTURES else USUAL_FORM,
                tuple(at for at, id_ in enumerate(selected) if id_ == item.get("image_id")),
            )
            for place, item in enumerate(items)
        )

    def _selected(self, who: str, hash_: str) -> Any:
        listing = self._sent(lambda: avatars(self._client, hash_, who))
        items = listing.body if listing is not None and isinstance(listing.body, list) else []
        chosen = (it for it in items if isinstance(it, dict) and it.get("selected") is True)
        return next((item.get("image_id") for item in chosen), None)

    def _linked_avatar(self, profile: Mapping[str, Any]) -> AvatarSeen:
        """Returns the avatar of a person whose list cannot be read."""
        members = {"alt_text": profile.get("avatar_alt_text", "")}
        return AvatarSeen(members, self._picture(profile["avatar_url"]), (0,))

    def _picture(self, url: Any) -> PictureForm:
        """Returns the form of the picture at a URL; the usual one where it is none."""
        if not isinstance(url, str) or not url.startswith("http"):
            return USUAL_FORM
        exchange = self._sent(lambda: self._client.get(url))
        if exchange is None or not exchange.response.is_success:
            return USUAL_FORM
        return form_of(exchange.response.body) or USUAL_FORM

    def _scopes(self) -> tuple[str, ...] | None:
        """Returns the scopes of the target's access token, where token-info says them."""
        client, token = self._client, self._client.target.credentials.access_token
        if client.target.auth_url is None or client.app.client_id is None or token is None:
            return None
        query = {"client_id": client.app.client_id, "token": token}
        exchange = self._sent(lambda: client.auth("GET", "/oauth2/token-info", query=query))
        if exchange is None or not exchange.response.is_success:
            return None
        scope = exchange.json_object.get("scope")
        return tuple(scope.replace(",", " ").split()) or None if isinstance(scope, str) else None

    def _json(self, path: str, who: str) -> Mapping[str, Any]:
        exchange = self._sent(lambda: self._client.get(path, who))
        is_read = exchange is not None and exchange.response.is_success
        return exchange.json_object if is_read and exchange is not None else {}

    @staticmethod
    def _sent(send: Any) -> Exchange | None:
        """Returns what was exchanged, or None where the request cannot be sent."""
        try:
            exchange: Exchange = send()
        except (NotPermitted, Unreachable):
            return None
        return exchange


def _linked_pictures(profile: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the pictures that a profile links to, each with its place."""
    header, gallery = profile.get("header_image"), profile.get("gallery")
    if isinstance(header, str):
        yield HEADER, header.partition("url(")[2].partition(")")[0].strip("'\"")
    if isinstance(gallery, list):
        items = (it for it in enumerate(gallery) if isinstance(it[1], dict))
        for place, item in islice(items, MOST_PICTURES):
            yield str(place), str(item.get("url", ""))
