"""Makes fixture files of the people, tokens and applications that a recording saw.

The files are those of ``understudy serve --fixtures``; a value that is not of the type that a fixture
has is left out, as deployments break their documents too.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from understudy.record.generated_pictures import PictureForm, drawn
from understudy.record.pseudonyms import Pseudonyms, last_segment
from understudy.record.recorded_profiles import NO_DATE, is_date, items, recorded_profile
from understudy.record.recorded_target import target_file
from understudy.record.seen_people import SeenAccount, SeenPeople
from understudy.verify.target import Target

_FILE_NAME: Final = re.compile(r"[\w][\w.-]{0,99}", re.ASCII)
"""Client IDs that can name a file."""

_ABOUT: Final = "Recorded; every value is a pseudonym."
_PICTURE_NAME: Final = re.compile(r"/image/([0-9a-f]{16}\.(?:png|jpg|gif))")

_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)
_IMAGE_ID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)
Files = dict[str, bytes]
"""Path within the directory to content."""


class RecordedFixtures:
    """The fixture files of a recording.

    Args:
        people: The people that it saw.
        pseudonyms: What they are called.
        pictures: Pseudonym of an avatar's identifier, of a hash or of a picture's name, to its form.
        target: The deployment; its applications are the project's own.
    """

    def __init__(
        self,
        people: SeenPeople,
        pseudonyms: Pseudonyms,
        pictures: Mapping[str, PictureForm],
        target: Target,
    ) -> None:
        self._seen = people
        self._pseudonyms = pseudonyms
        self._pictures = pictures
        self._target = target
        self._slugs: dict[int, str] = {}
        self._files: Files = {}
        self._persons: dict[str, dict[str, Any]] = {}

    def files(self) -> Files:
        """Returns the files; none if no person was seen."""
        if not self.persons():
            return {}
        for slug, person in self._persons.items():
            self._files[f"people/{slug}.yaml"] = _yaml(person)
        tokens = list(self._tokens())
        self._files["tokens.yaml"] = _yaml(tokens)
        for application in self._applications():
            self._files[f"applications/{application['client_id']}.yaml"] = _yaml(application)
        roles = {token: seen.role for token, seen in self._seen.tokens.items()}
        self._files["target.toml"] = target_file(tokens, roles, self._persons).encode()
        return self._files

    @property
    def images(self) -> Files:
        """The pictures of the people, which ``persons`` draws."""
        return {name: it for name, it in self._files.items() if name.startswith("images/")}

    def persons(self) -> Mapping[str, Mapping[str, Any]]:
        """Returns the people by slug, each as a fixture file has it."""
        accounts = {account.hash: account for account in self._seen.accounts() if account.hash}
        for hashed, profile in self._seen.profiles.items():
            self._add(profile, hashed, accounts.get(hashed))
        for account in self._seen.accounts():
            if account.hash not in self._seen.profiles:
                self._add({}, account.hash, account)
        for identifier in self._seen.private:
            self._add_private(identifier)
        return self._persons

    def slug_of(self, account: SeenAccount) -> str | None:
        """Returns the slug of an account's person; None if ``persons`` has none."""
        return self._slugs.get(id(account))

    def _add(self, profile: Mapping[str, Any], hashed: str, account: SeenAccount | None) -> None:
        digest = self._pseudonyms.digest("account", hashed or str(len(self._persons)))
        slug = last_segment(str(profile.get("profile_url") or ""))
        is_usable = _SLUG.fullmatch(slug) and slug not in self._persons
        slug = slug if is_usable else f"account-{digest[:16]}"
        account = account or SeenAccount(hash=hashed)
        self._slugs[id(account)] = slug
        avatars = [each for each in (self._avatar(it) for it in account.avatars.values()) if each]
        avatars = avatars or self._shown_avatar(profile, hashed)
        self._persons[slug] = {
            "slug": slug,
            "about": _ABOUT,
            "emails": list(self._emails(account, hashed, slug, avatars)),
            "profile": recorded_profile(profile, digest) | self._pictures_of(profile),
            "avatars": avatars,
        }

    def _add_private(self, identifier: str) -> None:
        """Adds a person whose profile was refused, or hides a known one; the mock refuses it too."""
        email = self._pseudonyms.emails.get(identifier)
        for person in self._persons.values():
            if identifier == person["slug"] or email in {it["email"] for it in person["emails"]}:
                person["visibility"] = "private"
                return
        slug = identifier if email is None else f"private-{identifier[:16]}"
        self._persons[slug] = {
            "slug": slug,
            "about": _ABOUT,
            "emails": [{"email": email or f"{slug}@example.com"}],
            "visibility": "private",
        }

    def _emails(
        self, account: SeenAccount, hashed: str, slug: str, avatars: list[dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        kept = {avatar["image_id"] for avatar in avatars}
        hashes = dict.fromkeys([hashed, *account.hashes])
        for place, each in enumerate(hashes):
            email = self._pseudonyms.emails.get(each)
            if email is None and place:
                continue
            chosen = account.selected.get(each) or (None if place else account.selected.get(""))
            if not place and not account.avatars and avatars:
                chosen = avatars[0]["image_id"]
            address = {"email": email or f"{slug}@example.com"}
            yield address | ({"avatar": chosen} if chosen in kept else {})

    def _avatar(self, members: Mapping[str, Any]) -> dict[str, Any] | None:
        image_id, date = members.get("image_id"), members.get("updated_date")
        if not isinstance(image_id, str) or not _IMAGE_ID.fullmatch(image_id):
            return None
        rating, text = members.get("rating"), members.get("alt_text")
        return {
            "image_id": image_id,
            "image": self._image(image_id, self._pictures.get(image_id, PictureForm())),
            "updated_date": date if is_date(date) else NO_DATE,
            "rating": rating if rating in {"G", "PG", "R", "X"} else "G",
            "alt_text": text if isinstance(text, str) else "",
        }

    def _shown_avatar(self, profile: Mapping[str, Any], hashed: str) -> list[dict[str, Any]]:
        """Returns the one avatar that a profile shows of a person whose list was not read."""
        if not profile.get("avatar_url"):
            return []
        image_id = self._pseudonyms.image_id(f"shown {hashed}")
        form = self._pictures.get(hashed, PictureForm())
        text = profile.get("avatar_alt_text")
        return [
            {
                "image_id": image_id,
                "image": self._image(image_id, form),
                "updated_date": NO_DATE,
                "alt_text": text if isinstance(text, str) else "",
            }
        ]

    def _image(self, name: str, form: PictureForm) -> str:
        file = f"{name}{form.suffix}"
        if f"images/{file}" not in self._files:
            self._files[f"images/{file}"] = drawn(form, self._pseudonyms.digest("picture", name))
        return file

    def _pictures_of(self, members: Mapping[str, Any]) -> dict[str, Any]:
        pictures: dict[str, Any] = {}
        header = _PICTURE_NAME.search(str(members.get("header_image")))
        if header is not None:
            pictures["header_image"] = {"image": self._profile_image(header[1])}
        if isinstance(members.get("gallery"), list):
            pictures["gallery"] = [
                {"image": self._profile_image(name[1])}
                | {k: v for k, v in item.items() if k != "url"}
                for item in items(members["gallery"], {"url": str}, {"alt_text": str})
                if (name := _PICTURE_NAME.search(item["url"]))
            ]
        return pictures

    def _profile_image(self, name: str) -> str:
        """Draws a picture on a profile: in the size that was seen, else in a usual one."""
        kind = {"jpg": "JPEG", "gif": "GIF"}.get(name.rpartition(".")[2], "PNG")
        form = self._pictures.get(name, PictureForm(kind, 640, 360))
        return self._image(name.partition(".")[0], form)

    def _tokens(self) -> Iterator[dict[str, Any]]:
        first = next(iter(self._persons))
        known = self._clients()
        for token, seen in self._seen.tokens.items():
            slug = self._slugs.get(id(seen.account), first)
            entry: dict[str, Any] = {"token": token, "person": slug, "about": _ABOUT}
            if seen.account is None and seen.client_id is None:
                yield {**entry, "kind": "api_key"}
                continue
            client = {"client_id": seen.client_id} if seen.client_id in known else {}
            yield {**entry, "kind": "oauth", "scopes": list(seen.granted), **client}

    def _clients(self) -> dict[str, dict[str, None]]:
        clients = {
            name: dict(redirects)
            for name, redirects in self._seen.redirects.items()
            if _FILE_NAME.fullmatch(name)
        }
        own = self._target.application
        if own.client_id and _FILE_NAME.fullmatch(own.client_id):
            redirects = clients.setdefault(own.client_id, {})
            if own.redirect_uri:
                redirects[own.redirect_uri] = None
        return clients

    def _applications(self) -> Iterator[dict[str, Any]]:
        for client, redirects in self._clients().items():
            yield {
                "client_id": client,
                "client_secret": f"{client}-secret",
                "name": client,
                "owner": next(iter(self._persons)),
                "redirect_uris": list(redirects),
                "about": _ABOUT,
            }


def _yaml(value: Any) -> bytes:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100).encode()
