"""The exceptions of understudy: two trees, one for commands and one for responses.

StartupError                the user must correct a file, an option or a port; exit status 2
├── FixtureError            a person, token or picture among the fixtures
└── MissingExtra            a package of an optional extra is not installed
Problem                     becomes an error response, in the error shape of the API
├── BadRequest              400: the request breaks the document or a rule
├── Unauthorized            401: no token, or an invalid one (RFC 6750, 3.1)
├── Forbidden               403: the token is valid, but not for this operation
├── NotFound                404
├── MethodNotAllowed        405, with what the document allows
├── NotAcceptable           406
├── Conflict                409
├── PreconditionFailed      412: the resource is not in the state that the request expects
├── ContentTooLarge         413
├── UnsupportedMediaType    415
├── TooManyRequests         429
├── StoreUnavailable        503: the store of the worlds does not respond, or is gone (RFC 9110, 15.6.4)
├── ShuttingDown            503: the mock stopped before the request was finished
├── InsufficientStorage     507: the change could not be stored (RFC 4918, 11.5)
├── LimitExceeded           a limit of this mock on size or number (``limits``)
└── MockRefusal             problem+json: a header or parameter that controls the mock is invalid
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from inspect import currentframe
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar, NamedTuple, get_args, get_type_hints

Headers = tuple[tuple[str, str], ...]


_LONG_WORD = re.compile(r"(\S{300})\S+")
"""Matches a word that is too long for a message: quoted content of a file can have any length."""

_MOST_CHARACTERS = 1500
"""Characters of a message about a file at most."""


class StartupError(Exception):
    """A usage or configuration error; a command prints its text and exits with status 2.

    Args:
        text: Message; words of more than 300 characters and the whole are truncated, and line ends are
            escaped, since content of a file may be in it.
    """

    def __init__(self, text: str) -> None:
        text = _LONG_WORD.sub(r"\1…", text).replace("\r", "\\r").replace("\n", "\\n")
        is_long = len(text) > _MOST_CHARACTERS
        super().__init__(f"{text[:_MOST_CHARACTERS]}…" if is_long else text)


class FixtureError(StartupError):
    """An invalid fixture; the text names the file, the key and the remedy."""


class MissingExtra(StartupError):
    """A package of an optional extra is not installed; the text says how to install it."""


_FRAMES = 14
"""Stack frames that are searched for the function that refused; callers further up are the server's."""


class Breach(NamedTuple):
    """The keyword of the document that a request violates.

    Attributes:
        where: JSON Pointer into the body, or the parameter's location and name.
        expected: Value of the violated keyword in the document.
        actual: Value in the request.
        document: JSON Pointer to the keyword in the document.
    """

    where: str
    expected: Any
    actual: Any
    document: str


class Violation(NamedTuple):
    """One violation of the document by a request.

    Attributes:
        location: ``path``, ``query``, ``header``, ``cookie`` or ``body``; empty for the whole request.
        path: Name of the parameter, or the keys to the value in the body.
        message: Message with the invalid value.
    """

    location: str
    path: tuple[str | int, ...]
    message: str


class Problem(Exception):
    """An error response, raised where the cause is known.

    Attributes:
        message: Cause with the invalid value, and remedy; shown to the client.
        code: Machine-readable error code; None without one.
        headers: Headers of the response, such as ``WWW-Authenticate``.
        breach: First violated keyword of the document; None for other causes.
        violations: All violations of the document by the request.
        made_by: Code objects of the raising functions, the innermost first; they lead to the rules.
    """

    status: ClassVar[int] = 500

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        headers: Headers = (),
        breach: Breach | None = None,
    ) -> None:
        super().__init__(message)
        self.breach = breach
        self.violations: tuple[Violation, ...] = ()
        self.made_by = _callers()
        self.message = message
        self.code = code
        self.headers = headers


def _callers() -> tuple[CodeType, ...]:
    """Returns the code objects on the stack that raise a problem, the innermost first."""
    codes: list[CodeType] = []
    frame = currentframe()
    for _ in range(_FRAMES):
        if frame is None:
            break
        codes.append(frame.f_code)
        frame = frame.f_back
    return tuple(codes[2:])  # without this function and Problem.__init__


class BadRequest(Problem):
    """The request breaks the document or a rule."""

    status = 400


class Unauthorized(Problem):
    """A required token is missing, or the token is invalid."""

    status = 401


class Forbidden(Problem):
    """The token is valid, but not for this operation."""

    status = 403


class NotFound(Problem):
    """The requested resource does not exist."""

    status = 404


class MethodNotAllowed(Problem):
    """The path exists, the method does not."""

    status = 405


class NotAcceptable(Problem):
    """No media type of the operation's responses is acceptable to the client."""

    status = 406


class Conflict(Problem):
    """The request conflicts with the state of the world."""

    status = 409


class PreconditionFailed(Problem):
    """The resource is not in the state that the request expects (RFC 9110, 13.1)."""

    status = 412


class ContentTooLarge(Problem):
    """The body is larger than the mock accepts."""

    status = 413


class UnsupportedMediaType(Problem):
    """The operation does not accept the media type of the body."""

    status = 415


class TooManyRequests(Problem):
    """The quota of the hour is used up."""

    status = 429


class StoreUnavailable(Problem):
    """The store of the worlds does not respond or is gone; a response might be stale."""

    status = 503

    def __init__(self, message: str) -> None:
        super().__init__(message, code="store_unavailable", headers=(("retry-after", "1"),))


class ShuttingDown(Problem):
    """The mock is stopping, and the request was not finished within the grace period."""

    status = 503

    def __init__(self) -> None:
        message = "The mock is shutting down; send the request again once it has started."
        super().__init__(message, code="shutting_down", headers=(("retry-after", "1"),))


class InsufficientStorage(Problem):
    """The change could not be stored, so it was not made."""

    status = 507


class LimitExceeded(Problem):
    """The request exceeds a limit of this mock, which the response names."""

    def __init__(self, status: int, limit: str, message: str) -> None:
        headers = (("x-mock-limit", limit),)
        super().__init__(f"{limit}: {message}", code="limit_exceeded", headers=headers)
        self.status = status  # type: ignore[misc]  # each limit has its own


class MockRefusal(Problem):
    """An invalid header or parameter that controls the mock, and that the real service ignores.

    Attributes:
        title: Short text that is the same for each occurrence (RFC 9457, 3.1.3).
    """

    def __init__(self, status: int, title: str, message: str) -> None:
        super().__init__(message)
        self.status = status  # type: ignore[misc]  # one class for the mock's few statuses
        self.title = title


_LONGEST_COMPARED = 200
"""Characters of a compared word at most, since the comparison takes quadratic time."""

_MOST_COMPARED = 1000
"""Known words that a word is compared with at most."""

_CLOSE = 0.65
"""Similarity from which a word is suggested: one of three letters may differ."""


def unreadable(path: object, error: OSError | UnicodeDecodeError, remedy: str = "") -> str:
    """Returns a message with the reason why a file cannot be read, and a remedy.

    Args:
        path: Path of the file, with the option that names it where that is unclear.
        error: Exception that reading raised.
        remedy: Sentence that says how to make such a file; empty for a default.
    """
    if isinstance(error, IsADirectoryError):
        return f"{path} is a directory; name a file. {remedy}".rstrip()
    if isinstance(error, UnicodeDecodeError):
        return f"{path} is not text in UTF-8. {remedy or 'Save it as UTF-8, or name another.'}"
    reason = error.strerror or error
    return f"{path} cannot be read: {reason}. {remedy or 'Check the path.'}"


def expect_no_nul(content: Mapping[str, object], path: object) -> None:
    """Checks that a settings file has no NUL character, which the system takes in no file name.

    Raises:
        StartupError: A text has one; the message names the file and the top-level key.
    """
    for key, value in content.items():
        if _has_nul(key) or _has_nul(value):
            msg = f"{path}: {key!r} contains a NUL character; remove it."
            raise StartupError(msg)


def _has_nul(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nul, (*value, *value.values())))
    return any(map(_has_nul, value)) if isinstance(value, list) else "\0" in str(value)


_AT_LINE = re.compile(r"\(at line (\d+),")
_BARE_TEXT = re.compile(r"\s*([\w.-]+)\s*=\s*[^\s\"'\[{#].*")


def not_toml(path: Path, error: Exception, remedy: str) -> str:
    """Returns a message with the line of a TOML error and a remedy, then the parser's message.

    The value in the line is not quoted, as it may be a secret.

    Args:
        path: Path of the file.
        error: Exception that parsing raised.
        remedy: Sentence that says how to make such a file.
    """
    place = _AT_LINE.search(str(error))
    if place is None:
        return f"{path} is not valid TOML. {remedy} ({error})"
    line = path.read_text("utf-8-sig", "replace").split("\n")[int(place[1]) - 1]
    if bare := _BARE_TEXT.fullmatch(line):
        remedy = f'A text needs quotes: {bare[1]} = "…"'
    else:
        remedy += f" ({error})"
    return f"{path}:{place[1]} is not valid TOML. {remedy}"


_MISFIT = re.compile(
    r"(?:Object contains unknown field `(?P<unknown>.*?)`"
    r"|Object missing required field `(?P<missing>.*?)`|(?P<what>.*?))"
    r"(?: - at `\$\.?(?P<place>[^`]*)`)?",
    re.DOTALL,
)
"""Matches a validation message of msgspec, and its place in the value; msgspec offers only text."""


def not_a_record(error: Exception, record: Any) -> str:
    """Returns a message with the place and the reason of a validation error, and a remedy.

    Args:
        error: Validation error of msgspec.
        record: Record type of the value.
    """
    match = _MISFIT.fullmatch(str(error))
    assert match is not None  # matches any text
    place, unknown, what = match["place"] or "", match["unknown"], match["what"]
    known = keys_at(record, place)
    if unknown is not None:
        hint = nearest(unknown, known) or f"; there are {', '.join(known)}."
        text = f"there is no key {unknown[:_LONGEST_COMPARED]!r}{hint}"
    elif what is None:
        text = f"{match['missing']} is missing; add it."
    elif known and what.startswith("Expected `object`"):
        reason = "it is empty; " if what.endswith("got `null`") else ""
        text = f"{reason}write some of {', '.join(known)}."
    else:
        text = f"{what}; correct it."
    return f"{place}: {text}" if place else text


def keys_at(record: Any, place: str = "") -> tuple[str, ...]:
    """Returns the keys of a record type at a place within it, such as ``profile.links[0]``."""
    struct = _struct(record)
    for name in re.findall(r"(?:^|\.)(\w+)", place):
        # a key in the file may contain dots, and so look like several names: then there is no struct
        struct = _struct(get_type_hints(struct).get(name)) if struct else None
    return tuple(getattr(struct, "__struct_encode_fields__", ()))


def _struct(hint: Any) -> Any:
    """Returns the record type within a type such as ``tuple[Link, ...] | UnsetType``."""
    if hasattr(hint, "__struct_fields__"):
        return hint
    return next(filter(None, map(_struct, get_args(hint))), None)


def nearest(word: str, known: Sequence[str]) -> str:
    """Returns a hint such as ``; did you mean 'rating'?``; empty if no known word is similar."""
    if len(word) > _LONGEST_COMPARED:
        return ""
    close = get_close_matches(word, known[:_MOST_COMPARED], n=1, cutoff=_CLOSE)
    return f"; did you mean {close[0]!r}?" if close else ""
