"""Reduces recorded values to declared members, with pseudonyms in place of personal values.

A member that no schema declares is left out; in a map, where any name may be, names are pseudonyms, too.
Of declared members, only words that the contract lists, booleans and small counts are kept unchanged. A
pseudonym that breaks the schema of its value, such as a pattern, is replaced by one drawn from the schema.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from understudy.errors import LimitExceeded
from understudy.exchange.masking import SECRET_NAMES
from understudy.interface.scopes import SCOPES
from understudy.openapi.loader import Document, Node
from understudy.openapi.pointers import objects_in
from understudy.openapi.sampler import AT_ONCE, DYNAMIC, Sampler
from understudy.openapi.schemas import schemas_of
from understudy.record.pseudonyms import Pseudonyms

_HEAD: Final = """# What this recording leaves out

Nothing of the traffic is kept as it was but methods, statuses, booleans, small counts, and words of
the contract. Every other value is a pseudonym under the project's key, or left out. Values and names
of what was left out are not listed: they could be personal.

"""


class Dropped:
    """Counts the parts of exchanges that a recording leaves out, by operation and kind of part."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, where: str, what: str, count: int = 1) -> None:
        """Counts parts that are left out.

        Args:
            where: The operation, as the contract names it.
            what: The kind of part, such as "header fields of a request".
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
    (
        "access_denied invalid_client invalid_grant invalid_request invalid_scope invalid_token"
        " insufficient_scope server_error temporarily_unavailable unauthorized_client"
        " unsupported_grant_type unsupported_response_type"
    ).split()
)
"""Error codes of RFC 6749, 4.1.2.1 and 5.2, and of RFC 6750, 3.1."""

FLOW_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "grant_type": frozenset({"authorization_code", "password", "refresh_token"}),
    "response_type": frozenset({"code", "token"}),
    "token_type": frozenset({"bearer", "Bearer"}),
    "code_challenge_method": frozenset({"plain", "S256"}),
    "error": OAUTH_CODES,
}
"""Parameters of the authorization flow, and the values that RFC 6749 and RFC 7636 define."""

COUNTS: Final = {"expires_in": 2 * 7 * 86_400, "number_verified_accounts": 1000, "order": 1000}
"""Members with a count, to the largest value that is kept unchanged."""

CODES: Final = frozenset({"code", "error"})
"""Members with an error code, in the resource API or the authorization server."""

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
    "username": Pseudonyms.identifier,
}
"""Name of a member, field or parameter to the method that makes its pseudonym.

A name with a dot applies to a member of a certain parent only. Other names use ``Pseudonyms.text``.
"""


def kind_of(name: str) -> Replace:
    """Returns the method that makes pseudonyms for a member, named ``parent.member`` or ``member``."""
    return KINDS.get(name) or KINDS.get(name.rpartition(".")[2], Pseudonyms.text)


class AllowList:
    """Keeps the values that one document declares, as pseudonyms.

    Args:
        document: The document.
        pseudonyms: Makes the pseudonyms.
        dropped: Counts the values that are left out.

    Attributes:
        link: Returns the URL at the mock for a URL of an operation; None for any other URL.
    """

    def __init__(self, document: Document, pseudonyms: Pseudonyms, dropped: Dropped) -> None:
        self._schemas = schemas_of(document)
        self._pseudonyms = pseudonyms
        self._dropped = dropped
        errors = (it for it in objects_in(document.raw) if "error" in it)
        own = (it["code"] for it in errors if isinstance(it.get("code"), str))
        self._codes = OAUTH_CODES.union(own)
        self._drawn: dict[str, str] = {}
        """Pseudonym of a text to the one that was drawn for it, which identifiers in paths then are."""
        self.link: Callable[[str], str | None] = lambda _url: None

    def value(self, value: Any, schema: Node | None, where: str, name: str = "body") -> Any:
        """Returns a JSON value with declared members only, and pseudonyms in place of its texts.

        Args:
            value: The value.
            schema: Its schema; None if none is declared.
            where: The operation, for the report of parts that are left out.
            name: Name of the member with the value, with its parent before it: ``parent.member``.
        """
        return self._value(value, () if schema is None else (schema,), where, name)

    def text(self, value: str, schema: Node | None, name: str) -> str:
        """Returns a text unchanged if it is a word of the contract, or else its pseudonym."""
        return self._text(value, () if schema is None else (schema,), name)

    def members(self, schema: Node | None) -> dict[str, Node | None]:
        """Returns the members that an object schema declares, to their schemas."""
        return dict(self._schemas.members(schema))

    # A value has several schemas where composed parts declare its member each.

    def _value(self, value: Any, schemas: Sequence[Node], where: str, name: str) -> Any:
        match value:
            case dict():
                return self._object(value, schemas, where, name)
            case list():
                items = self._items(schemas)
                return [self._value(item, items, where, name) for item in value]
            case str():
                return self._text(value, schemas, name)
            case bool() | None:
                return value
            case _:
                return self._number(value, schemas, name)

    def _text(self, value: str, schemas: Sequence[Node], name: str) -> str:
        own = name.rpartition(".")[2]
        if own == "scope":
            return " ".join(word for word in value.split(" ") if word in SCOPES)
        if self._is_word(value, schemas, own):
            return value
        if value.startswith(("http://", "https://", "/")):
            linked = self.link(value)
            if linked is not None:
                return linked
        made = kind_of(name)(self._pseudonyms, value)
        drawn: str = self._fitting(value, self._drawn.get(made, made), schemas, own)
        if drawn != made:
            self._drawn[made] = drawn
        return drawn

    def _fitting(self, value: Any, made: Any, schemas: Sequence[Node], name: str) -> Any:
        """Returns a pseudonym that keeps the schemas that its value keeps: the given one if it does."""
        kept = tuple(it for it in schemas if self._schemas.validator(it).is_valid(value))
        if all(self._schemas.validator(it).is_valid(made) for it in kept):
            return made
        seed = self._pseudonyms.number("drawn", str(made), 2**31)
        sampler = Sampler(self._schemas, seed, style=DYNAMIC, efforts=(AT_ONCE,))
        try:
            drawn = sampler.joint_value(kept, name)
        except LimitExceeded:
            return made
        return drawn if isinstance(drawn, str) == isinstance(made, str) else made

    def _parts(self, schemas: Sequence[Node]) -> list[Node]:
        return [part for schema in schemas for part in self._schemas.parts(schema)]

    def _children(self, keyword: str, schemas: Sequence[Node]) -> list[Node]:
        return [it for part in self._parts(schemas) if (it := part.child(keyword)) is not None]

    def _items(self, schemas: Sequence[Node]) -> list[Node]:
        return self._children("items", schemas)

    def _is_word(self, value: str | float, schemas: Sequence[Node], name: str) -> bool:
        """Tells whether the contract lists a value, by enum, const or as a word of the OAuth flow."""
        if value in FLOW_WORDS.get(name, ()) or (name in CODES and value in self._codes):
            return True
        # a parameter sends an array's item as its text
        parts = self._parts([*schemas, *self._items(schemas)])
        listed = (part.child("enum") for part in parts)
        only = (part.child("const") for part in parts)
        return any(it is not None and value in it.value for it in listed) or any(
            it is not None and value == it.value for it in only
        )

    def _object(
        self, members: Mapping[str, Any], schemas: Sequence[Node], where: str, name: str
    ) -> dict[str, Any]:
        listed = (part.child("properties") for part in self._parts(schemas))
        declared: dict[str, list[Node]] = {}
        for member, schema in (pair for it in listed if it is not None for pair in it.children()):
            declared.setdefault(str(member), []).append(schema)
        for required in self._children("required", schemas):
            declared |= {name: [] for name in required.value if name not in declared}
        further = self._children("additionalProperties", schemas)
        further = [it for it in further if it.value is not False]
        kept = {it: value for it, value in members.items() if further or it in declared}
        self._dropped.add(
            where, "members of a body that no schema declares", len(members) - len(kept)
        )
        above = name.rpartition(".")[2]
        keys = self._children("propertyNames", schemas)
        return {
            member if member in declared else self._text(member, keys, above): self._value(
                value, declared.get(member) or further, where, f"{above}.{member}"
            )
            for member, value in kept.items()
        }

    def _number(self, value: float, schemas: Sequence[Node], name: str) -> int | float:
        own = name.rpartition(".")[2]
        if isinstance(value, int) and 0 <= value <= COUNTS.get(own, -1):
            return value
        if self._is_word(value, schemas, own):
            return value
        made = self._pseudonyms.number("number", str(value), 10**6)
        fitting: int | float = self._fitting(value, made, schemas, own)
        return fitting
