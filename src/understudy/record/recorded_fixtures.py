"""Makes fixture files, stubs and a target file from recorded exchanges.

The files are those of ``understudy serve --fixtures``. Values of a wrong type are left out, since
deployments break their documents too, and one such value must not keep the mock from starting.

The mock has a state of people, as they were at the end of the recording. So reads of profiles become
stubs only if they came after the last change, and these stubs end when the app changes something.
Operations without a state in the mock are served from stubs alone.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import yaml

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    CHANGES,
    LOOKUP,
    OWN_PROFILE,
    RESOURCE,
    key_of,
)
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.operations import Operation
from understudy.record.pseudonyms import (
    AUTHORIZATION,
    SITE,
    PictureForm,
    Pseudonyms,
    drawn,
    last_segment,
)
from understudy.record.seen_people import SeenAccount, SeenPeople
from understudy.verify.target import Target

_TEXTS: Final = tuple(
    (
        "display_name location description job_title company pronunciation pronouns timezone"
        " first_name last_name background_color"
    ).split()
)
_FLAGS: Final = ("is_organization", "hide_default_header_image")
_DATES: Final = ("last_profile_edit", "registration_date")
_CONTACTS: Final = ("home_phone", "work_phone", "cell_phone", "email", "contact_form", "calendar")
_LINK: Final[Mapping[str, type]] = {"label": str, "url": str}
_WALLET: Final[Mapping[str, type]] = {"label": str, "address": str}
_ACCOUNT: Final[Mapping[str, type]] = {"service_type": str, "service_label": str, "url": str}
_LISTS: Final[Mapping[str, Mapping[str, type]]] = {
    "links": _LINK,
    "interests": {"id": int, "name": str},
    "languages": {"code": str, "name": str, "is_primary": bool, "order": int},
}
_MOST_HIDDEN: Final = 100
"""Largest number of hidden accounts that are invented for a profile that only counts them."""

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?", re.ASCII)
NO_DATE: Final = "2020-01-01T00:00:00Z"
"""The date of an avatar whose own date was not recorded."""


def recorded_profile(members: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """Returns the profile of a person in a fixture file, without its pictures.

    Args:
        members: The members of a profile in a response.
        digest: Hexadecimal digits that are unique to the person.
    """
    profile = {name: members[name] for name in _TEXTS if isinstance(members.get(name), str)}
    profile |= {name: members[name] for name in _FLAGS if isinstance(members.get(name), bool)}
    dates = {name: members[name] for name in _DATES if name in members}
    profile |= {name: date for name, date in dates.items() if date is None or is_date(date)}
    profile["verified_accounts"] = _verified(members, digest)
    profile |= {
        name: kept
        for name, types in _LISTS.items()
        if name in members and ((kept := list(items(members[name], types))) or not members[name])
    }
    payments = members.get("payments")
    if isinstance(payments, dict):
        profile["payments"] = {
            "links": list(items(payments.get("links"), _LINK)),
            "crypto_wallets": list(items(payments.get("crypto_wallets"), _WALLET)),
        }
    contact = members.get("contact_info")
    if isinstance(contact, dict):
        profile["contact_info"] = {
            name: contact[name] for name in _CONTACTS if isinstance(contact.get(name), str)
        }
    return profile


def items(
    value: Any, types: Mapping[str, type], optional: Mapping[str, type] | None = None
) -> Iterator[dict[str, Any]]:
    """Yields the valid items of a list, reduced to known members; a whole number may be written as text.

    Args:
        value: The list; any other value has no items.
        types: Required member to type; items without one are left out.
        optional: Optional member to type.
    """
    known = {**types, **(optional or {})}
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict):
            continue
        texts = {it: v for it, v in item.items() if type(v) is str and v.isdecimal()}
        numbers = {name: int(texts[name]) for name in texts if known.get(name) is int}
        given = {**item, **numbers}
        kept = {name: given[name] for name, kind in known.items() if type(given.get(name)) is kind}
        if kept.keys() >= types.keys():
            yield kept


def is_date(value: object) -> bool:
    """Tells whether a value is a date or an instant in the notation of pseudonyms."""
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def _verified(members: Mapping[str, Any], digest: str) -> list[dict[str, Any]]:
    """Returns the verified accounts, plus an invented hidden one for each that is only counted."""
    accounts = list(items(members.get("verified_accounts"), _ACCOUNT, {"is_hidden": bool}))
    number = members.get("number_verified_accounts")
    hidden = max(number - len(accounts), 0) if isinstance(number, int) else 0
    url = f"https://www.example.com/{digest[:16]}"
    unseen = {"service_type": "hidden", "service_label": "Hidden", "url": url, "is_hidden": True}
    return accounts + [{**unseen} for _ in range(min(hidden, _MOST_HIDDEN))]


_CREDENTIALS: Final = {
    "owner": "access_token",
    "reader": "read_only_token",
    "other": "other_access_token",
    "private": "private_access_token",
    "api_key": "api_key",
}
"""Name of an identity to the key of its credential in a target file."""

_Entry = Mapping[str, Any]
"""A token or person of a fixture file."""


def target_file(
    tokens: Iterable[_Entry], roles: Mapping[str, str], persons: Mapping[str, _Entry]
) -> str:
    """Returns the target file for a mock that serves the recording.

    Args:
        tokens: The tokens of the fixtures.
        roles: Token to the name of its identity in the recorded target.
        persons: Slug to person; at least one.
    """
    own, credentials = _credentials(list(tokens), roles, next(iter(persons)))
    other = credentials.get("other_access_token", {}).get("person")
    lines = [f'base_url = "{SITE}/v3"', f'auth_url = "{AUTHORIZATION}"', 'mode = "full"']
    if credentials:
        lines += ["[credentials]"]
        lines += [f'{key} = "{entry["token"]}"' for key, entry in credentials.items()]
    lines += ["[known]", *_known(own, other, persons)]
    return "\n".join(["# A mock that serves this recording.", *lines, ""])


def _credentials(
    tokens: list[_Entry], roles: Mapping[str, str], first: str
) -> tuple[str, dict[str, _Entry]]:
    """Returns the slug of the test account, and the tokens by their keys in a target file."""
    opening = [each for each in tokens if each["kind"] == "oauth" and each["scopes"]]
    opening.sort(key=lambda each: (roles.get(each["token"]) != "owner", -len(each["scopes"])))
    if not opening:
        return first, {}
    by_role = {_CREDENTIALS.get(roles.get(each["token"], ""), ""): each for each in tokens}
    own = opening[0]["person"]
    others = [each for each in opening if each["person"] != own]
    chosen = {"access_token": opening[0]}
    if others:
        chosen["other_access_token"] = by_role.get("other_access_token", others[0])
    more = {key: by_role[key] for key in _CREDENTIALS.values() if key in by_role}
    return own, {**more, **chosen}


def _known(own: str, other: str | None, persons: Mapping[str, _Entry]) -> Iterator[str]:
    """Yields the lines of the target file's section on known people."""
    yield f'slug = "{own}"'
    yield f"emails = {_emails(persons[own])}"
    if other is not None:
        yield f'other_slug = "{other}"'
        yield f"other_emails = {_emails(persons[other])}"
    private = [slug for slug, person in persons.items() if person.get("visibility") == "private"]
    yield from (f'private_slug = "{slug}"' for slug in private[:1])
    people = [slug for slug in persons if slug not in {own, other, *private}]
    if people:
        yield f"people = {json.dumps(people)}"


def _emails(person: _Entry) -> str:
    return json.dumps([each["email"] for each in person["emails"]])  # a list of texts in TOML, too


_FILE_NAME: Final = re.compile(r"[\w][\w.-]{0,99}", re.ASCII)
"""Client IDs that are safe as file names."""

_ABOUT: Final = "Recorded; every value is a pseudonym."
_PICTURE_NAME: Final = re.compile(r"/image/([0-9a-f]{16}\.(?:png|jpg|gif))")

_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)  # slugs that are safe file names
_IMAGE_ID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)
Files = dict[str, bytes]
"""Path within the directory to content."""


class RecordedFixtures:
    """Makes the fixture files of a recording.

    Args:
        people: The recorded people.
        pseudonyms: Makes the pseudonyms.
        pictures: Pseudonym of an avatar's identifier, hash or picture name to the picture's form.
        target: The deployment, whose applications are kept.
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
        """Returns the files; empty if no person was recorded."""
        if not self.persons():
            return {}
        for slug, person in self._persons.items():
            self._files[f"people/{slug}.yaml"] = as_yaml(person)
        tokens = list(self._tokens())
        self._files["tokens.yaml"] = as_yaml(tokens)
        for application in self._applications():
            self._files[f"applications/{application['client_id']}.yaml"] = as_yaml(application)
        roles = {token: seen.role for token, seen in self._seen.tokens.items()}
        self._files["target.toml"] = target_file(tokens, roles, self._persons).encode()
        return self._files

    @property
    def images(self) -> Files:
        """The files of the pictures that ``persons`` has drawn."""
        return {name: it for name, it in self._files.items() if name.startswith("images/")}

    def persons(self) -> Mapping[str, Mapping[str, Any]]:
        """Returns slug to person, in the form of a fixture file."""
        accounts = {account.hash: account for account in self._seen.accounts() if account.hash}
        for hashed, profile in self._seen.profiles.items():
            self._add(profile, hashed, accounts.get(hashed))
        for account in self._seen.accounts():
            if account.hash not in self._seen.profiles:
                self._add({}, account.hash, account)
        for identifier in self._seen.private:
            self._add_private(identifier)
        return self._persons

    @property
    def slugs(self) -> Mapping[str, str]:
        """Token to the slug of its person; the first person if the owner is not known."""
        first = next(iter(self._persons), "")
        tokens = self._seen.tokens.items()
        return {token: self._slugs.get(id(seen.account), first) for token, seen in tokens}

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
        """Adds a person with a private profile, or makes a known person's profile private."""
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
        """Returns the avatar that a profile shows, for a person whose avatars were not listed."""
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
        """Draws a profile's picture in its recorded size, or else in 640 x 360 pixels."""
        kind = {"jpg": "JPEG", "gif": "GIF"}.get(name.rpartition(".")[2], "PNG")
        form = self._pictures.get(name, PictureForm(kind, 640, 360))
        return self._image(name.partition(".")[0], form)

    def _tokens(self) -> Iterator[dict[str, Any]]:
        known, slugs = self._clients(), self.slugs
        for token, seen in self._seen.tokens.items():
            entry: dict[str, Any] = {"token": token, "person": slugs[token], "about": _ABOUT}
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


def as_yaml(value: Any) -> bytes:
    """Returns a value as the content of a YAML file."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100).encode()


_MOST_ANSWERS: Final = 100
"""Largest number of responses of a stub."""

_READ: Final = frozenset({LOOKUP, OWN_PROFILE, ASSOCIATED_EMAIL})
"""Operations whose responses show the state of an account."""

_OF_THE_MOCK: Final = (SITE, AUTHORIZATION)


@dataclass(frozen=True)
class RecordedStubs:
    """Makes the stubs of a recording.

    Args:
        operations: The operations of the document that the mock serves.
    """

    operations: Iterable[Operation]
    _exchanges: dict[str, list[Exchange]] = field(default_factory=dict)

    def add(self, exchange: Exchange) -> None:
        """Adds an anonymous exchange; a change discards the reads before it."""
        operation = exchange.operation
        if exchange.status == HTTPStatus.NOT_MODIFIED:
            return  # depends on the client's cache; a 200 with the body is right for every client
        if operation in _READ:
            if exchange.response.is_success and exchange.json_object:
                self._exchanges.setdefault(operation, []).append(exchange)
        elif operation in CHANGES:
            for name in _READ:
                self._exchanges.pop(name, None)
        elif exchange.site == "resource" and operation not in RESOURCE:
            self._exchanges.setdefault(operation, []).append(exchange)

    def stubs(self, slugs: Mapping[str, str]) -> list[dict[str, Any]]:
        """Returns the stubs, those with more query conditions last, as the last match responds.

        Args:
            slugs: Token to the slug of its person.
        """
        found = [stub for operation in self.operations for stub in self._of(operation, slugs)]
        return sorted(found, key=lambda stub: len(stub["when"].get("query", ())))

    def _of(self, operation: Operation, slugs: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        key = key_of(operation.method, operation.path)
        has_state = key in _READ
        alike: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}
        for exchange in self._exchanges.get(key, ()):
            token = exchange.request.token
            is_known = token is None or token in slugs or not has_state
            if exchange.request.method == operation.method and is_known:
                when = _condition(operation, exchange)
                when |= _caller(exchange, slugs) if has_state else _credential(token)
                alike.setdefault(repr(when), (when, []))[1].append(_response(exchange))
        for when, answers in alike.values():
            is_one = has_state or all(each == answers[0] for each in answers)
            yield {
                "operation": operation.operation_id,
                "when": when,
                "response": answers[-1] if is_one else answers[:_MOST_ANSWERS],
                "allow_invalid": True,
                "until_changed": has_state,
                "before_validation": not has_state,
            }


def _condition(operation: Operation, exchange: Exchange) -> dict[str, Any]:
    """Returns the conditions of a stub on path, query and body."""
    request = exchange.request
    when: dict[str, Any] = {}
    if exchange.values:
        names = PATH_PARAMETER.findall(operation.path)
        when["path"] = dict(zip(names, exchange.values, strict=True))
    if request.query:
        when["query"] = dict(request.query)
    if request.body and request.json is not NO_JSON:
        when["body"] = request.json
    return when


def _caller(exchange: Exchange, slugs: Mapping[str, str]) -> dict[str, Any]:
    """Returns the condition of a stub on the person behind a request, or on a missing token."""
    token = exchange.request.token
    if token is None:
        return {"header": {"authorization": {"absent": True}}}
    return {"person": slugs[token]}


def _credential(token: str | None) -> dict[str, Any]:
    """Returns the condition of a stub on the bearer token; none for a request without one."""
    return {"header": {"authorization": f"Bearer {token}"}} if token else {}


_SENT: Final = re.compile(
    "link|location|www-authenticate|(?!.*limit)(x-)?.*(count|total|items|page)s?"
)
"""Header fields of a response that apps use, and stubs therefore contain."""


def _response(exchange: Exchange) -> dict[str, Any]:
    """Returns the response of a stub: a merge into the mock's response, or a whole body."""
    response: dict[str, Any] = {"status": exchange.status}
    if exchange.operation in _READ:
        return response | {"merge": _changes(exchange.body)}
    headers = {name: it for name, it in exchange.response.headers if _SENT.fullmatch(name)}
    if headers:
        response["headers"] = headers
    if exchange.body is not NO_JSON:
        return response | {"body": exchange.body}
    is_text = exchange.response.media_type == "text/plain"
    return response | {"body": exchange.response.body.decode()} if is_text else response


def _changes(value: Any) -> Any:
    """Returns an object as a merge patch, without null, which would remove, and without mock URLs."""
    if isinstance(value, dict):
        kept = {name: _changes(it) for name, it in value.items() if it is not None}
        return {name: it for name, it in kept.items() if not _leads_to_the_mock(it)}
    return value


def _leads_to_the_mock(value: Any) -> bool:
    """Tells whether a value contains a URL of the mock, which writes its own by the Host header."""
    if isinstance(value, str):
        return any(address in value for address in _OF_THE_MOCK)
    members = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and any(map(_leads_to_the_mock, members))
