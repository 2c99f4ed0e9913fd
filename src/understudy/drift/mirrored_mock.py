"""Reads the accounts that a target file names, and makes fixtures of them for a mock.

With the same accounts, the deployment and the mock get the same requests, and differ only in their
behaviour. Few requests and no writes are sent, and only with the target's own credentials: for
profiles, avatars, pictures and the scopes of the token. The accounts are kept in memory only; pictures
are not copied but generated with the same size and kind.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import md5, sha256
from itertools import islice
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from understudy.api.bundled_target import AUTHORIZATION
from understudy.exchange.messages import Exchange
from understudy.interface.vocabulary import Vocabulary
from understudy.mock.fixtures.record_checks import (
    DATE_TIME,
    REGISTRATION,
    claims,
    is_date,
    is_time_zone,
    is_url,
)
from understudy.mock.server.worlds import Baseline
from understudy.mock.store.applications import APPLICATIONS, Application
from understudy.mock.store.people import (
    IMAGES,
    PEOPLE,
    RATINGS,
    SLUGS_BY_HASH,
    SLUGS_BY_IMAGE_ID,
    Avatar,
    Email,
    GalleryImage,
    HeaderImage,
    Image,
    Language,
    Link,
    Person,
    Profile,
    VerifiedAccount,
    with_password,
)
from understudy.mock.store.tokens import TOKENS, Token
from understudy.record.pseudonyms import PictureForm, drawn, form_of
from understudy.record.recorded_fixtures import recorded_profile
from understudy.verify.deployment import Deployment, locked
from understudy.verify.permits import NotPermitted, Unreachable
from understudy.verify.pictures import avatars
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import RunOptions, start
from understudy.verify.target import Target, TargetApplication

MOST_PICTURES: Final = 20
"""Most pictures of an account that are fetched for their form; others get the usual form."""

HEADER: Final = "header"
"""The place of the header image among the pictures of a profile; gallery images have numbers."""

UNKNOWN_SLUG: Final = "understudy-disabled"
"""Slug of a disabled account for which the target file has only a token."""

USUAL_FORM: Final = PictureForm("PNG", 80, 80)
"""The form of a picture that was not fetched."""

Visibility = Literal["public", "private", "disabled"]


@dataclass(frozen=True, slots=True)
class AvatarSeen:
    """An avatar of an account.

    Attributes:
        members: The members of the avatar in the list.
        picture: The form of its picture.
        selected_for: Indices of the e-mail addresses that the avatar is selected for.
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
        profile: The profile, as its owner reads it if possible; empty if it was not read.
        avatars: The avatars in the order of the list; None if no list was read.
        visibility: Who can see the profile.
        scopes: Scopes of the target's access token by token-info; None if unknown.
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
        StartupError: A file is invalid, or another run uses the ledger.
        BudgetSpent: The requests of the hour are used up.
        OutOfTime: The time of the run is used up.
    """
    with locked(deployment):
        run = start(deployment, RunOptions(rules=(), needs_interface=False))
        reader = _Reader(ProbeClient(run.gateway, "people"))
        return list(reader.accounts())


class _Reader:
    """Reads accounts with one client, and goes on if a request cannot be sent."""

    def __init__(self, client: ProbeClient) -> None:
        self._client = client

    def accounts(self) -> Iterator[AccountSeen]:
        """Yields the accounts that the target names, the test account first."""
        known = self._client.target.known
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
        """Yields an account; nothing if the target file has neither its slug nor a credential.

        Args:
            name: Name of the account.
            who: Name of its owner's credential; empty without one.
            slug: Slug of its profile; None to take it from the profile's URL.
            hashes: Hashes of its e-mail addresses.
            visibility: Who can see the profile.
        """
        is_owner = bool(who) and self._client.has(who)
        if slug is None and not is_owner:
            return
        profile = self._json("/me/profile", who) if is_owner else {}
        if not profile and slug is not None and visibility == "public":
            profile = self._json(f"/profiles/{slug}", self._reader())
        slug = slug or str(profile.get("profile_url", "")).rstrip("/").rpartition("/")[2]
        if not slug and visibility == "disabled":
            slug = UNKNOWN_SLUG  # no client can read the profile of a disabled account
        if not slug:
            return
        listed = self._avatars(who, hashes) if is_owner and visibility == "public" else None
        if listed is None and profile.get("avatar_url"):
            listed = (self._linked_avatar(profile),)
        scopes = self._scopes() if name == "own" and is_owner else None
        pictures = {place: self._picture(url) for place, url in _linked_pictures(profile)}
        yield AccountSeen(name, slug, profile, listed, visibility, scopes, pictures)

    def _reader(self) -> str:
        """Returns the name of a credential that can read the profiles of others."""
        names = ("api_key", "owner", "other")
        return next((name for name in names if self._client.has(name)), "anonymous")

    def _avatars(self, who: str, hashes: Sequence[str]) -> tuple[AvatarSeen, ...] | None:
        """Returns the avatars of an account; None if the list cannot be read."""
        listing = self._sent(lambda: avatars(self._client, None, who))
        if listing is None or not isinstance(listing.body, list):
            return None
        items = [item for item in listing.body if isinstance(item, dict)]
        selected = [self._selected(who, hash_) for hash_ in hashes] or [_selected_in(items)]
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
        return _selected_in(listing.body if listing is not None else None)

    def _linked_avatar(self, profile: Mapping[str, Any]) -> AvatarSeen:
        """Returns the avatar that a profile links to, for an account whose list cannot be read."""
        members = {"alt_text": profile.get("avatar_alt_text", "")}
        return AvatarSeen(members, self._picture(profile["avatar_url"]), (0,))

    def _picture(self, url: Any) -> PictureForm:
        """Returns the form of the picture at a URL; the usual form if it cannot be fetched."""
        if not isinstance(url, str) or not url.startswith("http"):
            return USUAL_FORM
        exchange = self._sent(lambda: self._client.get(url))
        if exchange is None or not exchange.response.is_success:
            return USUAL_FORM
        return form_of(exchange.response.body) or USUAL_FORM

    def _scopes(self) -> tuple[str, ...] | None:
        """Returns the scopes of the target's access token by token-info; None if it has none."""
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
        return exchange.json_object if exchange is not None and exchange.response.is_success else {}

    @staticmethod
    def _sent(send: Any) -> Exchange | None:
        """Returns the exchange, or None if the request cannot be sent."""
        try:
            exchange: Exchange = send()
        except (NotPermitted, Unreachable):
            return None
        return exchange


def _selected_in(items: Any) -> Any:
    """Returns the identifier of the avatar that a list shows as selected; None without one."""
    chosen = (it for it in items if isinstance(it, dict)) if isinstance(items, list) else ()
    return next((it.get("image_id") for it in chosen if it.get("selected") is True), None)


def _linked_pictures(profile: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the pictures that a profile links to, each with its place."""
    header, gallery = profile.get("header_image"), profile.get("gallery")
    if isinstance(header, str):
        yield HEADER, header.partition("url(")[2].partition(")")[0].strip("'\"")
    if isinstance(gallery, list):
        items = (it for it in enumerate(gallery) if isinstance(it[1], dict))
        for place, item in islice(items, MOST_PICTURES):
            yield str(place), str(item.get("url", ""))


_URL: Final = "https://example.com/"
_DATES: Final = {"last_profile_edit": DATE_TIME, "registration_date": REGISTRATION}
_EMPTY: Final[tuple[object, ...]] = ("", [], {})
"""Values of members that both the interface and the mock leave out."""


def mirrored_profile(members: Mapping[str, Any], key: Callable[[str], str]) -> Profile:
    """Returns a profile with the members that have the type of the interface; others are left out.

    A value of the right type that breaks a rule is replaced: a mock that served it would break
    the rule too, and no difference would be found.

    Args:
        members: The profile that was read.
        key: Returns the key of the picture at a place of the profile.
    """
    given = {name: value for name, value in members.items() if value not in _EMPTY}
    shown = recorded_profile(given, "")
    if "timezone" in shown and not is_time_zone(shown["timezone"]):
        del shown["timezone"]
    for name, form in _DATES.items():
        if isinstance(given.get(name), str):
            shown[name] = given[name] if is_date(given[name], form) else _LONG_AGO
    profile = msgspec.convert(shown, Profile)
    header = members.get("header_image")
    if isinstance(header, str):
        style = header.rpartition(")")[2].strip()
        header_image = HeaderImage(key(HEADER), style or "no-repeat")
        profile = replace(profile, header_image=header_image)
    gallery = members.get("gallery")
    if isinstance(gallery, list):
        pictures = [
            _gallery_image(key(str(place)), item)
            for place, item in enumerate(gallery)
            if isinstance(item, dict)
        ]
        profile = replace(profile, gallery=tuple(pictures))
    return _as_ruled(profile)


def _as_ruled(profile: Profile) -> Profile:
    """Returns a profile whose URLs and languages keep the rules of the interface."""
    accounts = tuple(map(_linked, profile.verified_accounts))
    changed: dict[str, Any] = {"verified_accounts": accounts}
    if profile.languages:
        changed["languages"] = tuple(_placed(profile.languages))
    if profile.links:
        changed["links"] = tuple(map(_linked, profile.links))
    if profile.payments:
        links = tuple(map(_linked, profile.payments.links))
        changed["payments"] = replace(profile.payments, links=links)
    return replace(profile, **changed)


def _placed(languages: Sequence[Language]) -> Iterator[Language]:
    """Yields languages with at most one primary, and each with a different order."""
    orders = [it.order for it in languages]
    is_repeated = len(set(orders)) < len(orders)
    has_primary = False
    for place, language in enumerate(languages):
        yield replace(
            language,
            order=place if is_repeated else language.order,
            is_primary=language.is_primary and not has_primary,
        )
        has_primary |= language.is_primary


_Linked = TypeVar("_Linked", Link, VerifiedAccount)


def _linked(link: _Linked) -> _Linked:
    return link if is_url(link.url) else replace(link, url=_URL)


def _gallery_image(key: str, members: Mapping[str, Any]) -> GalleryImage:
    text = members.get("alt_text")
    return GalleryImage(key, text) if isinstance(text, str) else GalleryImage(key)


USUAL: Final = "usual.png"
"""Key of the picture that replaces those that were not fetched."""

_LONG_AGO: Final = "2020-01-01T00:00:00Z"


def mirrored_target(target: Target, accounts: Sequence[AccountSeen], base_url: str) -> Target:
    """Returns the target of the mock that has a deployment's accounts."""
    by_name = {account.name: account for account in accounts}
    known = replace(
        target.known,
        emails=_emails(target, "own"),
        hashes=(),
        other_emails=_emails(target, "other"),
        other_hashes=(),
    )
    own = by_name.get("own")
    return replace(
        target,
        base_url=base_url,
        auth_url=target.auth_url and AUTHORIZATION,
        mode=target.writes,
        is_mock=False,  # where the two read an open rule differently, neither breaks it
        facts=None,
        ledger=None,
        application=_signed_in(target.application, own.slug if own else "own"),
        other_application=_signed_in(target.other_application, "other-owner"),
        two_step=_signed_in(target.two_step, "two-step-owner"),
        known=known,
    )


def _signed_in(application: TargetApplication, slug: str) -> TargetApplication:
    """Returns an application whose owner signs in by the mock's shortcuts, such as mock_approve."""
    return replace(
        application,
        username=application.username and slug,
        approve=application.approve and f"mock_approve={slug}",
        deny=application.deny and "mock_deny=1",
    )


def _emails(target: Target, name: str) -> tuple[str, ...]:
    """Returns the e-mail addresses of an account; made-up ones if the target has only hashes."""
    known = target.known
    emails, hashes = {
        "own": (known.emails, known.hashes),
        "other": (known.other_emails, known.other_hashes),
    }.get(name, ((), ()))
    return emails or tuple(f"{name}-{place}@example.invalid" for place in range(len(hashes)))


def mirrored_baseline(
    target: Target, accounts: Sequence[AccountSeen], vocabulary: Vocabulary
) -> Baseline:
    """Returns the fixtures of a mock that has a deployment's accounts.

    Args:
        target: The target of the mock, from ``mirrored_target``.
        accounts: The accounts that were read at the deployment.
        vocabulary: The mock's names of scopes.
    """
    images = {USUAL: generated(USUAL_FORM)}
    people: dict[str, Person] = {}
    for account in _with_own_avatars(accounts):
        mirror = _Mirror(account, _emails(target, account.name))
        images |= mirror.images
        people.setdefault(account.slug, mirror.person(target))
    people |= {it.slug: it for it in _owners(target) if it.slug not in people}
    claimed: dict[str, dict[str, str]] = {SLUGS_BY_HASH.name: {}, SLUGS_BY_IMAGE_ID.name: {}}
    for person in people.values():
        for collection, key, _ in claims(person):
            claimed[collection.name].setdefault(key, person.slug)
    return {
        **claimed,
        PEOPLE.name: people,
        IMAGES.name: images,
        TOKENS.name: {it.token: it for it in _tokens(target, accounts, vocabulary)},
        APPLICATIONS.name: {it.client_id: it for it in _applications(target)},
    }


def credential_fixtures(target: Target) -> Baseline:
    """Returns the fixtures of a mock of another service, where the target's credential is valid.

    A name and a password, with a colon between them, are valid for HTTP Basic too.
    """
    credential = target.credentials.access_token or ""
    name, _, password = credential.partition(":")
    slug = name.strip().lower()
    owner = Person(slug=slug, about="The caller.", emails=(), password=password)
    return {
        PEOPLE.name: {slug: owner},
        TOKENS.name: {credential: Token(token=credential, person=slug)} if credential else {},
    }


def _with_own_avatars(accounts: Sequence[AccountSeen]) -> Iterator[AccountSeen]:
    """Yields the accounts, each without the avatars that a later account lists too.

    An avatar belongs to one account: a deployment that lists one for two then differs from the mock.
    """
    for place, account in enumerate(accounts):
        later = [avatar for each in accounts[place + 1 :] for avatar in each.avatars or ()]
        foreign = {avatar.members.get("image_id") for avatar in later}
        listed = account.avatars or ()
        own = tuple(it for it in listed if it.members.get("image_id") not in foreign)
        is_listed = account.avatars is not None
        yield dataclasses.replace(account, avatars=own) if is_listed else account


def _owned(target: Target) -> Iterator[tuple[TargetApplication, str]]:
    """Yields the applications of the target, each with a default slug for its owner."""
    yield target.application, "own"
    yield target.other_application, "other-owner"
    yield target.two_step, "two-step-owner"


def _owners(target: Target) -> Iterator[Person]:
    """Yields the owners of the applications."""
    for application, slug in _owned(target):
        yield Person(
            slug=application.username or slug,
            about="The owner of an application.",
            emails=(Email(f"{slug}@example.invalid"),),
            password=application.password or f"{slug}-password",
            application_password=application.application_password,
        )


def _applications(target: Target) -> Iterator[Application]:
    for application, slug in _owned(target):
        if application.client_id is not None:
            yield Application(
                client_id=application.client_id,
                client_secret=application.client_secret or "",
                name=application.name or application.client_id,
                owner=application.username or slug,
                redirect_uris=(application.redirect_uri,) if application.redirect_uri else (),
            )


def _tokens(
    target: Target, accounts: Sequence[AccountSeen], vocabulary: Vocabulary
) -> Iterator[Token]:
    """Yields the credentials of the target, with their scopes as read or as the target names them."""
    by_name = {account.name: account for account in accounts}
    for name, (identity, token) in target.identities().items():
        account = by_name.get(identity.account or "own")
        if account is None or (identity.kind == "invalid" and name != "expired"):
            continue  # an invalid token was never issued, neither at the deployment nor here
        named = identity.scopes or frozenset()
        scopes = tuple(word for scope, word in vocabulary.words.items() if scope in named)
        yield Token(
            token=token,
            person=account.slug,
            kind="api_key" if identity.kind == "api_key" else "oauth",
            scopes=(account.scopes if name == "owner" else None) or scopes,
            expires=_LONG_AGO if name == "expired" else None,
        )


@dataclass
class _Mirror:
    """Makes the fixtures of one account: a person and its pictures."""

    account: AccountSeen
    emails: Sequence[str]

    @property
    def images(self) -> dict[str, Image]:
        """The generated pictures by their keys."""
        kinds = {f"{self._image_id(it)}.picture": it.picture for it in self.account.avatars or ()}
        kinds |= {self._key(place): kind for place, kind in self.account.pictures.items()}
        return {key: generated(kind, key) for key, kind in kinds.items()}

    def _key(self, place: str) -> str:
        """Returns the key of a picture of the profile; of the usual picture if it was not fetched."""
        return f"{self.account.slug}-{place}" if place in self.account.pictures else USUAL

    def person(self, target: Target) -> Person:
        """Returns the person with the profile, avatars and credentials of the account."""
        seen = self.account.avatars or ()
        selected = {place: self._image_id(it) for it in seen for place in it.selected_for}
        emails = self.emails or (f"{self.account.slug}@example.invalid",)
        is_own = self.account.name == "own"
        person = Person(
            slug=self.account.slug,
            about="An account of the deployment.",
            emails=tuple(Email(it, selected.get(at)) for at, it in enumerate(emails)),
            profile=mirrored_profile(self.account.profile, self._key),
            avatars=tuple(self._avatar(it) for it in seen),
            visibility=self.account.visibility,
            contact_public=self.account.slug != target.known.hidden_contact_slug,
            password=(target.application.password or "") if is_own else "",
            application_password=target.application.application_password if is_own else None,
        )
        return with_password(person)

    def _image_id(self, avatar: AvatarSeen) -> str:
        """Returns the avatar's identifier if it is an MD5 digest like the mock's, else its digest."""
        text = str(avatar.members.get("image_id", self.account.slug))
        is_digest = len(text) == 32 and not set(text) - set("0123456789abcdef")  # noqa: PLR2004 - of MD5
        return text if is_digest else md5(text.encode(), usedforsecurity=False).hexdigest()

    def _avatar(self, seen: AvatarSeen) -> Avatar:
        date = seen.members.get("updated_date")
        is_usual = isinstance(date, str) and is_date(date, DATE_TIME)
        return Avatar(
            image_id=self._image_id(seen),
            image=f"{self._image_id(seen)}.picture",
            updated_date=str(date) if is_usual else _LONG_AGO,
            rating=next((it for it in RATINGS if it == seen.members.get("rating")), "G"),
            alt_text=str(seen.members.get("alt_text") or ""),
        )


def generated(form: PictureForm, text: str = "") -> Image:
    """Returns a picture of a kind and size, with colours that depend on the text."""
    return Image(drawn(form, sha256(text.encode()).hexdigest()), form.media_type)
