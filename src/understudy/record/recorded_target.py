"""Makes the target file of a mock that serves a recording: every role that was seen, and whose it is."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from understudy.record.pseudonyms import AUTHORIZATION, SITE

_CREDENTIALS: Final = {
    "owner": "access_token",
    "reader": "read_only_token",
    "other": "other_access_token",
    "private": "private_access_token",
    "api_key": "api_key",
}
"""Name of a credential's identity to its key of a target file."""

_Entry = Mapping[str, Any]
"""A token or a person as a fixture file has it."""


def target_file(
    tokens: Iterable[_Entry], roles: Mapping[str, str], persons: Mapping[str, _Entry]
) -> str:
    """Returns the target file of a mock that serves a recording.

    Args:
        tokens: The tokens of its fixtures.
        roles: Token to the name of its identity in the target that was recorded.
        persons: The people by slug; there is one at least.
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
    """Returns the slug of the test account, and its token and those of others by their keys."""
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
    """Yields the lines of the people that the target file names."""
    yield f'slug = "{own}"'
    yield f"emails = {_emails(persons[own])}"
    if other is not None:
        yield f'other_slug = "{other}"'
        yield f"other_emails = {_emails(persons[other])}"
    private = [slug for slug, person in persons.items() if person.get("visibility") == "private"]
    yield from (f'private_slug = "{slug}"' for slug in private[:1])
    people = [slug for slug in persons if slug not in {own, other, *private}]
    if people:
        yield f"people = {_listed(people)}"


def _emails(person: _Entry) -> str:
    return _listed(each["email"] for each in person["emails"])


def _listed(texts: Iterable[str]) -> str:
    quoted = [f'"{text}"' for text in texts]
    return f"[{', '.join(quoted)}]"
