"""The words that the interface leaves to each deployment: scopes, QR types, headers, fields.

The interface replaces some words of the service by neutral ones ("the exact word is given by the
interface"), and published documents differ in others. One file lists a deployment's own words.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, ValidationError, convert, field, to_builtins
from msgspec.structs import replace

from understudy.errors import StartupError, keys_at, nearest, not_a_record
from understudy.interface.operations import CHANGES, READS, key_of
from understudy.interface.scopes import AUTH, MANAGE_PROFILE, READ_PROFILE
from understudy.openapi.loader import Document
from understudy.openapi.media_types import MULTIPART, URLENCODED
from understudy.openapi.operations import Operation, operations
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


class ProfileStatusWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The values of the header that states the status of a QR code's profile.

    Attributes:
        enabled: The profile is shown.
        disabled: The profile is not shown.
        not_found: The profile does not exist.
    """

    enabled: str = "enabled"
    disabled: str = "disabled"
    not_found: str = "not_found"


class UserInfoWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of the user-info operation, which is served if a vocabulary file has any of them.

    Attributes:
        path: Path at the authorization server.
        members: Member of the response to its claim (OpenID Connect Core 1.0, 5.3), such as
            ``login: preferred_username``; if empty, members are named after their claims.
    """

    path: str = "/oauth2/userinfo"
    members: dict[str, str] = {}


class TokenEndpointWays(Struct, frozen=True, forbid_unknown_fields=True):
    """The requests that the token endpoint accepts beside the interface's form.

    Attributes:
        basic: Whether it accepts client credentials by HTTP Basic too (``client_secret_basic``).
        multipart: Whether it accepts ``multipart/form-data`` too.
    """

    basic: bool = False
    multipart: bool = False


class Vocabulary(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one deployment.

    Attributes:
        scopes: The names of the scopes.
        qr_types: The values of the QR code's ``type``.
        rate_limit_headers: Prefix of the names of the three rate-limit headers, before ``-Limit``,
            ``-Remaining`` and ``-Reset``.
        upload_field: Name of the file field of an upload.
        profile_status_header: Name of the header that states the status of a QR code's profile.
        profile_statuses: Values of that header.
        user_info: The words of the user-info operation.
        token_endpoint: Further requests that the token endpoint accepts.
    """

    scopes: ScopeWords = field(default_factory=ScopeWords)
    qr_types: QrTypeWords = field(default_factory=QrTypeWords)
    rate_limit_headers: str = "X-RateLimit"
    upload_field: str = "data"
    profile_status_header: str = "X-Profile-Status"
    profile_statuses: ProfileStatusWords = field(default_factory=ProfileStatusWords)
    user_info: UserInfoWords = field(default_factory=UserInfoWords)
    token_endpoint: TokenEndpointWays = field(default_factory=TokenEndpointWays)

    @property
    def words(self) -> dict[str, str]:
        """Scope of the interface to the deployment's word for it."""
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

_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")

CLAIMS: Final = tuple(
    (
        "sub name given_name family_name preferred_username profile picture email email_verified"
        " zoneinfo"
    ).split()
)
"""The claims about who signed in (OpenID Connect Core 1.0, 5.1)."""

_FORMS: Final = {
    "scopes": (_SCOPE, "a scope: printable ASCII without spaces, quotes and backslashes"),
    "qr_types": (_WORD, "a word of letters, digits, '.', '_', '~' and '-'"),
    "rate_limit_headers": (_HEADER, "the beginning of a header's name, such as X-RateLimit"),
    "upload_field": (_WORD, "the name of a form field, such as image"),
    "profile_status_header": (_HEADER, "the name of a header, such as X-Profile-Status"),
    "profile_statuses": (_WORD, "a word of letters, digits, '.', '_', '~' and '-'"),
}


def load_vocabulary(path: Path) -> Vocabulary:
    """Loads a vocabulary from its file, or from a deployment profile.

    Raises:
        StartupError: The file cannot be read, or a word is not valid in its place; the text names
            the file, the key and what to write.
    """
    content = read_yaml(path) or {}
    if isinstance(content, dict):
        content = content.get("vocabulary", content)
    if not isinstance(content, dict):
        msg = f"{path} is not a vocabulary; write some of {', '.join(keys_at(Vocabulary))}."
        raise StartupError(msg)
    try:
        vocabulary = convert(content, Vocabulary)
    except ValidationError as error:
        msg = f"{path}: {not_a_record(error, Vocabulary)}"
        raise StartupError(msg) from error
    for key, value in to_builtins(vocabulary).items():
        if key in _FORMS:
            _check(path, key, value)
    _check_user_info(path, vocabulary.user_info)
    return vocabulary


def _check_user_info(path: Path, words: UserInfoWords) -> None:
    if not _PATH.fullmatch(words.path):
        msg = f"{path}: user_info.path: {words.path!r} is not a path, such as /rest/v1/me."
        raise StartupError(msg)
    for name, claim in words.members.items():
        if claim not in CLAIMS:
            hint = nearest(claim, CLAIMS) or f"; there are {', '.join(CLAIMS)}."
            msg = f"{path}: user_info.members.{name}: there is no claim {claim!r}{hint}"
            raise StartupError(msg)


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


# Only bundled documents are rewritten in a deployment's words, since any other document in force is
# written in them already.


def in_words(document: Document, vocabulary: Vocabulary) -> Document:
    """Returns a bundled document as a deployment with this vocabulary would publish it."""
    if vocabulary == OWN_WORDS:
        return document
    return Document(document.path, _Rewriting(vocabulary).rewritten(document.raw))


def with_declared_scopes(vocabulary: Vocabulary, document: Document) -> Vocabulary:
    """Returns a vocabulary with the scopes that a document in force requires.

    A scope that only reading operations share is the read scope, and one that only changing
    operations share the manage scope. Without exactly one of each, the vocabulary is unchanged.
    """
    declared = {key_of(it.method, it.path): _required_scopes(it) for it in operations(document)}
    reading = _common([declared[key] for key in READS if declared.get(key)])
    changing = _common([declared[key] for key in CHANGES if declared.get(key)])
    both = reading & changing
    if len(reading - both) != 1 or len(changing - both) != 1:
        return vocabulary
    (read,), (manage,) = reading - both, changing - both
    auth = next(iter(both)) if len(both) == 1 else vocabulary.scopes.auth
    return replace(vocabulary, scopes=ScopeWords(auth, read, manage))


def _required_scopes(operation: Operation) -> frozenset[str]:
    """Returns the scopes of the first alternative that has any."""
    alternatives = (chain.from_iterable(needed.values()) for needed in operation.security)
    return next(filter(None, map(frozenset, alternatives)), frozenset())


def _common(sets: Sequence[frozenset[str]]) -> frozenset[str]:
    return frozenset.intersection(*sets) if sets else frozenset()


def user_info_document(document: Document, vocabulary: Vocabulary) -> Document:
    """Returns the document of the user-info operation with a deployment's path and members."""
    raw = in_words(document, vocabulary).raw
    words = vocabulary.user_info
    schemas = raw["components"]["schemas"]
    claims = schemas["UserInfo"]
    if words.members:
        claims = {
            "type": "object",
            "required": [n for n, claim in words.members.items() if claim in claims["required"]],
            "properties": {n: claims["properties"][claim] for n, claim in words.members.items()},
        }
    components = {**raw["components"], "schemas": {**schemas, "UserInfo": claims}}
    paths = {words.path: next(iter(raw["paths"].values()))}
    return Document(document.path, {**raw, "paths": paths, "components": components})


class _Rewriting:
    """Copies a document with other words, and leaves the original unchanged."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._scopes = vocabulary.words
        own, other = to_builtins(OWN_WORDS.qr_types), to_builtins(vocabulary.qr_types)
        self._qr_types = {own[name]: other[name] for name in own}

    def rewritten(self, value: Any) -> Any:
        """Returns a part of a document with every word replaced."""
        if isinstance(value, dict):
            if value.get("name") == "type" and value.get("in") == "query":
                value = _mapped(value, self._qr_types)
            worded = {
                self._header(self._scopes.get(key, key)): self._upload(member)
                if key == MULTIPART
                else self.rewritten(member)
                for key, member in value.items()
            }
            if URLENCODED in worded and self._vocabulary.token_endpoint.multipart:
                worded[MULTIPART] = worded[URLENCODED]
            return worded
        if isinstance(value, list):
            return [self.rewritten(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        for scope, word in self._scopes.items():
            if text == scope:
                return word
            # "auth" is also part of other words, so in prose only code and queries are replaced
            quoted, plain = f"`{scope}`", f"={scope}&"
            text = text.replace(quoted, f"`{word}`").replace(plain, f"={word}&")
            text = text if scope == AUTH else text.replace(scope, word)
        return self._header(text)

    def _header(self, text: str) -> str:
        return text.replace(OWN_WORDS.rate_limit_headers, self._vocabulary.rate_limit_headers)

    def _upload(self, media: Any) -> Any:
        names = {OWN_WORDS.upload_field: self._vocabulary.upload_field}
        schema = media["schema"]
        return self.rewritten(
            {
                **media,
                "schema": {
                    **schema,
                    "required": [names.get(name, name) for name in schema["required"]],
                    "properties": _renamed(schema["properties"], names),
                },
                "encoding": _renamed(media["encoding"], names),
            }
        )


def _renamed(members: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(key, key): member for key, member in members.items()}


def _mapped(value: Any, words: Mapping[str, str]) -> Any:
    """Returns a parameter with the values of its schema and its example replaced."""
    schema = {**value["schema"], "enum": [words[word] for word in value["schema"]["enum"]]}
    return {**value, "schema": schema, "example": words[value["example"]]}
