"""Names what the interface leaves to each deployment: scopes, QR types, one header and one field.

The interface writes some words of the service neutrally ("the exact word is given by the
interface"), and published documents differ in others. A deployment's own words stand in one file.
"""

import re
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, ValidationError, convert, field, to_builtins

from understudy.errors import StartupError, nearest
from understudy.interface.scopes import AUTH, MANAGE_PROFILE, READ_PROFILE
from understudy.openapi.yaml_files import read_yaml


class ScopeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The scopes of the interface (Authorization request).

    Attributes:
        auth: Lets the user authenticate; required for any endpoint.
        read: Reads avatars and profile information.
        manage: Edits avatars and profile information.
    """

    auth: str = AUTH
    read: str = READ_PROFILE
    manage: str = MANAGE_PROFILE


class QrTypeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The values of the QR code's parameter ``type``, which name the icon in the centre.

    Attributes:
        user: A person.
        service: The service's own logo.
        none: No icon.
    """

    user: str = "user"
    service: str = "service"
    none: str = "none"


class Vocabulary(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one deployment.

    Attributes:
        scopes: The names of the scopes.
        qr_types: The values of the QR code's ``type``.
        rate_limit_headers: What the names of the three rate-limit headers begin with; ``-Limit``,
            ``-Remaining`` and ``-Reset`` follow.
        upload_field: Name of the file field of an upload.
    """

    scopes: ScopeWords = field(default_factory=ScopeWords)
    qr_types: QrTypeWords = field(default_factory=QrTypeWords)
    rate_limit_headers: str = "X-RateLimit"
    upload_field: str = "data"

    @property
    def words(self) -> dict[str, str]:
        """The deployment's word for each scope of the interface."""
        return {
            AUTH: self.scopes.auth,
            READ_PROFILE: self.scopes.read,
            MANAGE_PROFILE: self.scopes.manage,
        }

    @property
    def scope_names(self) -> tuple[str, ...]:
        """Every scope, in the interface's order."""
        return tuple(self.words.values())


OWN_WORDS: Final = Vocabulary()
"""The words of the interface itself."""

_SCOPE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]{1,80}")  # RFC 6749, 3.3
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,80}")  # RFC 9110, 5.1
_WORD = re.compile(r"[A-Za-z0-9._~-]{1,80}")

_FORMS: Final = {
    "scopes": (_SCOPE, "a scope: printable ASCII without spaces, quotes and backslashes"),
    "qr_types": (_WORD, "a word of letters, digits, '.', '_', '~' and '-'"),
    "rate_limit_headers": (_HEADER, "the beginning of a header's name, such as X-RateLimit"),
    "upload_field": (_WORD, "the name of a form field, such as image"),
}


def load_vocabulary(path: Path) -> Vocabulary:
    """Loads a vocabulary file.

    Raises:
        StartupError: It cannot be read, or a word cannot stand where it belongs; the text names the
            file, the key and what to write.
    """
    content = read_yaml(path) or {}
    if not isinstance(content, dict):
        msg = f"{path} is not a vocabulary; write some of {_listed(Vocabulary)}."
        raise StartupError(msg)
    try:
        vocabulary = convert(content, Vocabulary)
    except ValidationError as error:
        msg = f"{path}: {_explained(str(error))}"
        raise StartupError(msg) from error
    for key, value in to_builtins(vocabulary).items():
        _check(path, key, value)
    return vocabulary


def _check(path: Path, key: str, value: Any) -> None:
    form, description = _FORMS[key]
    words = value if isinstance(value, dict) else {"": value}
    for name, word in words.items():
        place = f"{key}.{name}" if name else key
        if not form.fullmatch(word):
            msg = f"{path}: {place}: {word!r} is not {description}."
            raise StartupError(msg)
        if list(words.values()).count(word) > 1:
            msg = f"{path}: {place}: {word!r} stands for two things; give each its own word."
            raise StartupError(msg)


_INVALID = re.compile(r"(?P<what>.*?)(?: - at `\$\.(?P<place>[\w.]+)`)?")
"""Matches the message of msgspec about an invalid value, and the place of the value."""

_TABLES: Final = {"scopes": ScopeWords, "qr_types": QrTypeWords}


def _explained(text: str) -> str:
    """Returns what is wrong with a key or its value, in the words of the file."""
    match = _INVALID.fullmatch(text)
    assert match is not None  # matches any text
    place = match["place"] or ""
    table = _TABLES.get(place, Vocabulary)
    unknown = re.search("unknown field `(.*)`", match["what"])
    if unknown:
        known = table.__struct_fields__
        hint = nearest(unknown[1], known) or f"; there are {_listed(table)}."
        return f"{place}{': ' * bool(place)}there is no key {unknown[1]!r}{hint}"
    expected = f"some of {_listed(table)}" if place in _TABLES else "a text"
    return f"{place}: write {expected} ({match['what']})."


def _listed(table: type[Struct]) -> str:
    return ", ".join(table.__struct_fields__)
