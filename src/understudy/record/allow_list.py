"""Keeps the members that the contract's schemas declare, each as the pseudonym of its kind.

What no schema declares is left out, whatever its name. Of what is declared, only words that the
contract lists, booleans and small counts stay as they are.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from understudy.exchange.masking import SECRET_NAMES
from understudy.interface.scopes import SCOPES
from understudy.openapi.loader import Document, Node
from understudy.openapi.pointers import objects_in
from understudy.openapi.schemas import Schemas
from understudy.record.pseudonyms import Pseudonyms

_HEAD: Final = """# What this recording leaves out

Nothing of the traffic is kept as it was but methods, statuses, booleans, small counts, and words of
the contract. Every other value is a pseudonym under the project's key, or left out. Values and names
of what was left out are not listed: they could be personal.

"""


class Dropped:
    """The number of parts that were left out, by where they were."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, where: str, what: str, count: int = 1) -> None:
        """Counts parts that are left out.

        Args:
            where: The operation, in the contract's words.
            what: Parts of a request or a response.
            count: The number of them.
        """
        if count:
            self._counts[where, what] += count

    @property
    def total(self) -> int:
        """The number of parts that were left out."""
        return self._counts.total()

    def markdown(self) -> str:
        """Returns the report as Markdown."""
        rows = [
            f"| {where} | {what} | {n:,} |\n" for (where, what), n in sorted(self._counts.items())
        ]
        table = ["| where | what | times |\n| --- | --- | ---: |\n", *rows]
        return _HEAD + "".join(table if rows else ["Nothing was left out.\n"])


Replace = Callable[[Pseudonyms, str], str]

OAUTH_CODES: Final = frozenset(
    {
        *("access_denied", "invalid_client", "invalid_grant", "invalid_request", "invalid_scope"),
        *("invalid_token", "insufficient_scope", "server_error", "temporarily_unavailable"),
        *("unauthorized_client", "unsupported_grant_type", "unsupported_response_type"),
    }
)
"""Error codes of RFC 6749, 4.1.2.1 and 5.2, and of RFC 6750, 3.1."""

FLOW_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "grant_type": frozenset({"authorization_code", "password", "refresh_token"}),
    "response_type": frozenset({"code", "token"}),
    "token_type": frozenset({"bearer", "Bearer"}),
    "code_challenge_method": frozenset({"plain", "S256"}),
    "error": OAUTH_CODES,
}
"""Parameters of the flow, and their values in RFC 6749 and RFC 7636."""

COUNTS: Final = {"expires_in": 2 * 7 * 86_400, "number_verified_accounts": 1000, "order": 1000}
"""Members that count something, and the most that is kept as it is."""

CODES: Final = frozenset({"code", "error"})
"""Members that hold an error code, in the one API or the other."""

KINDS: Final[Mapping[str, Replace]] = {
    **dict.fromkeys(("hash", "email_hash", "selected_email_hash"), Pseudonyms.hash),
    **dict.fromkeys(("profileIdentifier", "sha256_hash"), Pseudonyms.identifier),
    **dict.fromkeys(("image_id", "imageHash", "imageId"), Pseudonyms.image_id),
    **dict.fromkeys(("avatar_url", "image_url"), Pseudonyms.avatar_url),
    **dict.fromkeys(("display_name", "first_name", "last_name"), Pseudonyms.name),
    **dict.fromkeys(("home_phone", "work_phone", "cell_phone"), Pseudonyms.phone),
    **dict.fromkeys(("contact_form", "calendar"), Pseudonyms.url_or_text),
    **dict.fromkeys(("url", "blog_url"), Pseudonyms.url),
    **dict.fromkeys(("blog_id", "user_id", "site_id"), Pseudonyms.number_text),
    **dict.fromkeys(("state", "code_challenge", "nonce"), Pseudonyms.opaque),
    **dict.fromkeys(("last_profile_edit", "registration_date", "updated_date"), Pseudonyms.instant),
    **dict.fromkeys(SECRET_NAMES, Pseudonyms.secret),
    "address": Pseudonyms.wallet,
    "body.code": Pseudonyms.service,
    "background_color": Pseudonyms.colour,
    "client_id": Pseudonyms.client,
    "email": Pseudonyms.email,
    "gallery.url": Pseudonyms.picture_url,
    "header_image": Pseudonyms.header_image,
    "languages.code": Pseudonyms.language,
    "profile_url": Pseudonyms.profile_url,
    "redirect_uri": Pseudonyms.redirect,
    "service_icon": Pseudonyms.icon_url,
    "service_type": Pseudonyms.service,
    "timezone": Pseudonyms.time_zone,
    "username": Pseudonyms.username,
}
"""Name of a member, field or parameter to its kind; any other text is a text.

A name with a point is that of a member below another one.
"""


def kind_of(name: str) -> Replace:
    """Returns what replaces a text of this name, behind the name of the member above it if it has one."""
    return KINDS.get(name) or KINDS.get(name.rpartition(".")[2], Pseudonyms.text)


class AllowList:
    """Keeps what one document declares.

    Args:
        document: The document.
        pseudonyms: Replaces what is kept.
        dropped: Counts what is not.

    Attributes:
        link: Returns the address at the mock of what leads to an operation; None where none is there.
    """

    def __init__(self, document: Document, pseudonyms: Pseudonyms, dropped: Dropped) -> None:
        self._schemas = Schemas(document)
        self._pseudonyms = pseudonyms
        self._dropped = dropped
        errors = (it for it in objects_in(document.raw) if "error" in it)
        own = (it["code"] for it in errors if isinstance(it.get("code"), str))
        self._codes = OAUTH_CODES.union(own)
        self.link: Callable[[str], str | None] = lambda _url: None

    def value(self, value: Any, schema: Node | None, where: str, name: str = "body") -> Any:
        """Returns a JSON value as it may be kept.

        Args:
            value: The value.
            schema: Its schema; None where none is declared.
            where: The operation, for the report of what was left out.
            name: The member that it is the value of, behind the member above it.
        """
        match value:
            case dict():
                return self._object(value, schema, where, name)
            case list():
                items = self._schemas.items(schema)
                return [self.value(item, items, where, name) for item in value]
            case str():
                return self.text(value, schema, name)
            case bool() | None:
                return value
            case _:
                return self._number(value, name)

    def text(self, value: str, schema: Node | None, name: str) -> str:
        """Returns a text as it may be kept: a word of the contract, or a pseudonym."""
        own = name.rpartition(".")[2]
        if own == "scope":
            return " ".join(word for word in value.split(" ") if word in SCOPES)
        if self._is_word(value, schema, own):
            return value
        if value.startswith(("http://", "https://", "/")):
            linked = self.link(value)
            if linked is not None:
                return linked
        return kind_of(name)(self._pseudonyms, value)

    def members(self, schema: Node | None) -> dict[str, Node | None]:
        """Returns the members that an object's schema declares, with the schema of each."""
        return dict(self._schemas.members(schema))

    def _is_word(self, value: str, schema: Node | None, name: str) -> bool:
        """Tells whether a value is one that the contract lists."""
        if value in FLOW_WORDS.get(name, ()) or (name in CODES and value in self._codes):
            return True
        listed = schema and self._schemas.follow(schema).child("enum")
        return bool(listed and value in listed.value)

    def _object(
        self, members: Mapping[str, Any], schema: Node | None, where: str, name: str
    ) -> dict[str, Any]:
        declared = self.members(schema)
        kept = {member: value for member, value in members.items() if member in declared}
        self._dropped.add(
            where, "members of a body that no schema declares", len(members) - len(kept)
        )
        above = name.rpartition(".")[2]
        return {
            member: self.value(value, declared[member], where, f"{above}.{member}")
            for member, value in kept.items()
        }

    def _number(self, value: float, name: str) -> int | float:
        own = name.rpartition(".")[2]
        if isinstance(value, int) and 0 <= value <= COUNTS.get(own, -1):
            return value
        return self._pseudonyms.number("number", str(value), 10**6)
