"""What to type first: a few commands that work when pasted, for the console and the front page."""

from collections.abc import Iterable

from understudy.records.people import Person
from understudy.records.tokens import Token


def curl_lines(base_url: str, people: Iterable[Person], tokens: Iterable[Token]) -> list[str]:
    """Returns commands for a look-up, an own profile and a QR code.

    Args:
        base_url: Where the resource API answers, without a slash at the end.
        people: Whom the world knows; only those who can be looked up are shown.
        tokens: Those that count now; the one that was granted most is shown.

    Returns:
        Three lines; two where no token opens a public person's account, none without such people.
    """
    slugs = [person.slug for person in people if person.visibility == "public"]
    if not slugs:
        return []
    owners = frozenset(slugs)
    usable = [token for token in tokens if token.kind == "oauth" and token.person in owners]
    token = max(usable, key=lambda token: len(token.scopes), default=None)
    slug = token.person if token else slugs[0]
    return [
        f"curl {base_url}/profiles/{slug}",
        *(
            [f"curl {base_url}/me/profile -H 'Authorization: Bearer {token.token}'"]
            if token
            else []
        ),
        f"curl '{base_url}/qr-code/{slug}?size=240' --output {slug}.png",
    ]
