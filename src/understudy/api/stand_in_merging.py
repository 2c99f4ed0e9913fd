"""Merges what a deployment shows of a person with what a mock changed of the person itself."""

from collections.abc import Iterator

from msgspec.structs import replace

from understudy.mock.store.people import Avatar, Email, Person


def merged_person(known: Person, shown: Person, earlier: Person) -> Person:
    """Returns a person with the changes of both sides; where both changed a thing, the deployment's.

    Args:
        known: The person in the mock.
        shown: The person as the deployment shows them now.
        earlier: The person as it showed them when the mock was last told.
    """
    avatars = tuple(_avatars(known, shown, earlier))
    return replace(
        known,
        profile=known.profile if shown.profile == earlier.profile else shown.profile,
        avatars=avatars,
        emails=tuple(_emails(known, shown, earlier, {each.image_id for each in avatars})),
    )


def _avatars(known: Person, shown: Person, earlier: Person) -> Iterator[Avatar]:
    """Yields the deployment's avatars that the mock did not delete, and those uploaded to the mock."""
    before = {each.image_id: each for each in earlier.avatars}
    mine = {each.image_id: each for each in known.avatars}
    for avatar in shown.avatars:
        if before.get(avatar.image_id) != avatar:
            yield avatar
        elif avatar.image_id in mine:
            yield mine[avatar.image_id]
    now = {each.image_id for each in shown.avatars}
    yield from (each for name, each in mine.items() if name not in before and name not in now)


def _emails(known: Person, shown: Person, earlier: Person, kept: set[str]) -> Iterator[Email]:
    """Yields the addresses, each with the avatar that was selected for it last."""
    before = {each.email: each.avatar for each in earlier.emails}
    mine = {each.email: each.avatar for each in known.emails}
    for email in shown.emails:
        is_theirs = email.email not in mine or before.get(email.email) != email.avatar
        chosen = email.avatar if is_theirs else mine[email.email]
        yield replace(email, avatar=chosen if chosen in kept else None)
    now = {each.email for each in shown.emails}
    yield from (each for each in known.emails if each.email not in now)


def unselected(person: Person, address: str) -> Person:
    """Returns a person of whom it is not known which avatar is selected for an address."""
    emails = [replace(e, avatar=None) if e.email == address else e for e in person.emails]
    return replace(person, emails=tuple(emails))
