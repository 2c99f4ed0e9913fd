"""Identifies operations by method and path template, as documents differ in all other names.

Also holds the inputs whose names and bounds the interface leaves to the document in force.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from understudy.openapi.operations import Operation, distinguishing, is_meant, path_shape
from understudy.openapi.path_matching import PathMatcher, specificity


@dataclass(frozen=True, slots=True)
class DeclaredInputs:
    """The inputs of a deployment and other details that the document in force decides.

    Attributes:
        upload_field: Name of the field that an upload sends its picture under.
        qr_types: Values of ``type`` for the centre icon of a QR code.
        least_qr_size: The smallest width of a QR code in pixels; None if the document has no bound.
        largest_qr_size: The largest width; None if the document has no bound.
        longest: Profile field to the maximum length of its text, for fields that have one.
        always_shown: Members that a looked-up profile has for every caller, as they are required.
        never_shown: Members of profiles that the document does not name.
    """

    upload_field: str = "data"
    qr_types: tuple[str, ...] = ("user", "service", "none")
    least_qr_size: int | None = None
    largest_qr_size: int | None = None
    longest: Mapping[str, int] = field(default_factory=dict)
    always_shown: frozenset[str] = frozenset()
    never_shown: frozenset[str] = frozenset()

    def with_bounds_of(self, other: "DeclaredInputs") -> "DeclaredInputs":
        """Returns these inputs with the bounds of another deployment; names stay as they are."""
        return replace(
            self,
            least_qr_size=other.least_qr_size,
            largest_qr_size=other.largest_qr_size,
            longest=other.longest,
        )


LOOKUP: Final = "GET /profiles/{}"
QR_CODE: Final = "GET /qr-code/{}"
LIST_AVATARS: Final = "GET /me/avatars"
UPLOAD_AVATAR: Final = "POST /me/avatars"
DELETE_AVATAR: Final = "DELETE /me/avatars/{}"
UPDATE_AVATAR: Final = "PATCH /me/avatars/{}"
SET_AVATAR: Final = "POST /me/avatars/{}/email"
OWN_PROFILE: Final = "GET /me/profile"
UPDATE_PROFILE: Final = "PATCH /me/profile"
ASSOCIATED_EMAIL: Final = "GET /me/associated-email"
DOCUMENT: Final = "GET /openapi"
AUTHORIZE: Final = "GET /oauth2/authorize"
TOKEN: Final = "POST /oauth2/token"
TOKEN_INFO: Final = "GET /oauth2/token-info"

COUNTED: Final = (LOOKUP, QR_CODE, OWN_PROFILE, UPDATE_PROFILE)
"""The operations that the hourly limits count (rule rate-limit-counted-operations)."""

AVATARS: Final = (LIST_AVATARS, UPLOAD_AVATAR, DELETE_AVATAR, UPDATE_AVATAR, SET_AVATAR)
AVATAR_CHANGES: Final = (DELETE_AVATAR, UPDATE_AVATAR, SET_AVATAR)
PROFILES: Final = (LOOKUP, OWN_PROFILE, UPDATE_PROFILE)
READS: Final = (LIST_AVATARS, OWN_PROFILE, ASSOCIATED_EMAIL)
CHANGES: Final = (UPLOAD_AVATAR, DELETE_AVATAR, UPDATE_AVATAR, SET_AVATAR, UPDATE_PROFILE)
ME: Final = (*READS, *CHANGES)
RESOURCE: Final = (LOOKUP, QR_CODE, *ME, DOCUMENT)

_Headers = Iterable[tuple[str, str]]

Site = Literal["resource", "authorization", "elsewhere"]


class Place(NamedTuple):
    """The operation, site and path of a request; an exchange has members of the same names."""

    operation: str
    site: Site
    path: str
    values: tuple[str, ...]
    title: str = ""
    """Method and path template as the document writes it."""


class Routes:
    """Finds the operation of a request.

    Args:
        base_url: Base URL of the resource API.
        auth_url: Base URL of the authorization server; None without one.
        resource: The operations below ``base_url``.
        authorization: The operations below ``auth_url``.
        inputs: Inputs that the interface leaves open, as the document in force declares them.

    Attributes:
        base_url: Base URL of the resource API, without a trailing slash.
    """

    def __init__(
        self,
        base_url: str,
        auth_url: str | None,
        resource: Sequence[Operation],
        authorization: Sequence[Operation],
        inputs: DeclaredInputs | None = None,
    ) -> None:
        self.inputs = inputs or DeclaredInputs()
        self.base_url = base_url.rstrip("/")
        self._sites: list[tuple[Site, str, _Matcher]] = [
            ("resource", self.base_url, _matcher(resource))
        ]
        groups = [keyed(resource)]
        if auth_url is not None:
            self._sites.append(("authorization", auth_url.rstrip("/"), _matcher(authorization)))
            groups.insert(0, keyed(authorization))
        self._keys = {id(operation): key for group in groups for key, operation in group.items()}
        self._operations = {key: it for group in groups for key, it in group.items()}
        self._alike = Counter(key_of(it.method, it.path) for it in self._operations.values())

    def find(self, method: str, url: str, headers: _Headers = ()) -> Place:
        """Returns the place of a request; its operation is empty if no document declares it.

        Args:
            method: The method in upper case.
            url: The absolute URL.
            headers: The header fields, by which a document can distinguish operations of one path.
        """
        address = with_plain_letters(url.partition("?")[0].partition("#")[0])
        for site, root, matcher in self._sites:
            path = address.removeprefix(root)
            if path == address or not path.startswith("/"):
                continue
            for alternatives, texts in matcher.all(path):
                if alternatives[0].method == method:
                    key = self._keys[id(_meant(alternatives, url, headers))]
                    return Place(key, site, path, tuple(map(unquote, texts)), self.title(key))
            # Pictures can have the authorization server's host, but are no part of that server.
            if site == "resource" or not path.startswith(("/avatar/", "/image/")):
                return Place("", site, path, ())
        return Place("", "elsewhere", urlsplit(address).path, ())

    def operation(self, key: str) -> Operation | None:
        """Returns the document's operation with this key; None if it has none."""
        return self._operations.get(key)

    def title(self, key: str) -> str:
        """Returns method and path template as the document writes them; an unknown key as it is."""
        known = self.operation(key)
        if known is None:
            return key
        name = f"{known.method} {known.path}"
        is_one_of_several = self._alike[key_of(known.method, known.path)] > 1
        return f"{name} ({known.operation_id})" if is_one_of_several else name


_UNRESERVED: Final = re.compile(r"%([46][1-9A-Fa-f]|[57][0-9Aa]|3[0-9]|2[DdEe]|5[Ff]|7[Ee])")
"""Matches percent-encoded letters, digits and ``-._~`` (RFC 3986, 6.2.2.2)."""


def with_plain_letters(address: str) -> str:
    """Returns a URL with all unreserved characters decoded, so that equivalent URLs are equal."""
    return _UNRESERVED.sub(lambda found: unquote(found[0]), address)


def key_of(method: str, template: str) -> str:
    """Returns the key by which rules refer to an operation: its method and path shape."""
    return f"{method} {path_shape(template)}"


def keyed(operations: Iterable[Operation]) -> dict[str, Operation]:
    """Returns operations by their keys.

    Of several with the same method and path, the first has the plain key; the keys of the others
    end with their operationId.
    """
    named: dict[str, Operation] = {}
    for operation in operations:
        key = key_of(operation.method, operation.path)
        named[f"{key} {operation.operation_id}" if key in named else key] = operation
    return named


_Matcher = PathMatcher[list[Operation]]
"""Matches a path to groups of operations of one method, distinguished by their parameters."""


def _matcher(operations: Sequence[Operation]) -> _Matcher:
    alike: dict[str, list[Operation]] = {}
    for operation in sorted(operations, key=lambda it: specificity(it.path)):
        alike.setdefault(key_of(operation.method, operation.path), []).append(operation)
    return PathMatcher((group[0].path, group) for group in alike.values())


def _meant(alternatives: Sequence[Operation], url: str, headers: _Headers) -> Operation:
    """Returns the alternative with the most distinguishing parameters that the request has."""
    if len(alternatives) == 1:
        return alternatives[0]
    query = parse_qs(urlsplit(url).query, keep_blank_values=True)
    fields = {name.lower(): text for name, text in headers}
    ordered = sorted(alternatives, key=lambda it: -len(distinguishing(it)))
    return next((it for it in ordered if is_meant(it, query, fields.get)), ordered[0])
