"""The errors of understudy, as one tree with two roots.

StartupError                a person mends a file, an option or a port; the command ends with 2
├── FixtureError            a person, token or picture among the fixtures
└── MissingExtra            a package of an optional extra is not installed
Problem                     becomes a response, in the shape of the API that was called
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
├── ShuttingDown            503: the mock stops, and the request was not finished before
├── InsufficientStorage     507: the change could not be stored (RFC 4918, 11.5)
├── LimitExceeded           a limit of this mock on size or number (``limits``)
└── MockRefusal             problem+json: a request that steers the mock and cannot be carried out
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from inspect import currentframe
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar, NamedTuple, get_args, get_type_hints

Headers = tuple[tuple[str, str], ...]


_LONG_WORD = re.compile(r"(\S{300})\S+")
"""Finds a word of a message that repeats what a file holds, which has no end."""


class StartupError(Exception):
    """A usage or configuration error; a command prints its text and ends with 2.

    Args:
        text: The text; of a word of more than 300 characters it keeps the beginning.
    """

    def __init__(self, text: str) -> None:
        super().__init__(_LONG_WORD.sub(r"\1…", text))


class FixtureError(StartupError):
    """A fixture that cannot be used: the text names the file, the key and the remedy."""


class MissingExtra(StartupError):
    """A package of an optional extra is not installed; the text says how to install it."""


_FRAMES = 14
"""Stack frames that are looked at for a refusal: two of its own; further callers belong to the server."""


class Breach(NamedTuple):
    """Explains which keyword of the document a request violates.

    Attributes:
        where: JSON pointer into the body, or the parameter.
        expected: The value of the violated keyword, as the document writes it.
        actual: The value of the request at that place.
        document: JSON pointer into the document.
    """

    where: str
    expected: Any
    actual: Any
    document: str


class Violation(NamedTuple):
    """One of the ways in which a request breaks the document.

    Attributes:
        location: ``path``, ``query``, ``header``, ``cookie`` or ``body``; empty if it is the whole.
        path: The parameter's name, or the steps to the value in the body.
        message: What is wrong, with the value.
    """

    location: str
    path: tuple[str | int, ...]
    message: str


class Problem(Exception):
    """A response other than success, raised where the reason is known.

    Attributes:
        message: What was wrong, with the value, and what to do; shown to the client.
        code: The machine-readable word beside it, where one is known.
        headers: Headers that the answer must carry, such as ``WWW-Authenticate``.
        breach: What of the document was broken, if that is why.
        violations: All that is wrong with the request, if the document says so.
        made_by: The code that made it, the closest first: who refused, and by which rule.
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
    """Returns the code that makes a problem, the closest first."""
    codes: list[CodeType] = []
    frame = currentframe()
    for _ in range(_FRAMES):
        if frame is None:
            break
        codes.append(frame.f_code)
        frame = frame.f_back
    return tuple(codes[2:])


class BadRequest(Problem):
    """The request breaks the document or a rule."""

    status = 400


class Unauthorized(Problem):
    """No token was sent where one is required, or the token is not valid."""

    status = 401


class Forbidden(Problem):
    """The token is valid, but not for this operation."""

    status = 403


class NotFound(Problem):
    """There is nothing at this address."""

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
    """The store of the worlds does not respond or is gone, so the mock returns no value that may be stale."""

    status = 503

    def __init__(self, message: str, *, seconds: int = 1) -> None:
        after = (("retry-after", str(seconds)),)
        super().__init__(message, code="store_unavailable", headers=after)


class ShuttingDown(Problem):
    """The mock stops, and the request was not finished within its grace."""

    status = 503

    def __init__(self) -> None:
        message = "The mock is shutting down; send the request again once it has started."
        super().__init__(message, code="shutting_down", headers=(("retry-after", "1"),))


class InsufficientStorage(Problem):
    """The change could not be stored, so it was not made."""

    status = 507


class LimitExceeded(Problem):
    """The request is beyond a limit of this mock; the response names it."""

    def __init__(self, status: int, limit: str, message: str) -> None:
        headers = (("x-mock-limit", limit),)
        super().__init__(f"{limit}: {message}", code="limit_exceeded", headers=headers)
        self.status = status  # type: ignore[misc]  # each limit has its own


class MockRefusal(Problem):
    """A request that steers the mock cannot be carried out: production could never say it.

    Attributes:
        title: A few words that are the same each time (RFC 9457, 3.1.3).
    """

    def __init__(self, status: int, title: str, message: str) -> None:
        super().__init__(message)
        self.status = status  # type: ignore[misc]  # one class for the mock's few statuses
        self.title = title


_LONGEST_COMPARED = 200
"""Characters of a word that is compared: the comparison takes the square of their number."""

_MOST_COMPARED = 1000
"""Known words that one is compared with."""

_CLOSE = 0.65
"""The share of letters in common from which a word is suggested: one of three may differ."""


def unreadable(path: object, error: OSError | UnicodeDecodeError, remedy: str = "") -> str:
    """Returns why a file cannot be read, and what to do.

    Args:
        path: The file, behind the option that names it where that is not plain.
        error: What was raised when it was read.
        remedy: A sentence that says what makes such a file.
    """
    if isinstance(error, IsADirectoryError):
        return f"{path} is a directory; name a file. {remedy}".rstrip()
    if isinstance(error, UnicodeDecodeError):
        return f"{path} is not text in UTF-8. {remedy or 'Save it as UTF-8, or name another.'}"
    reason = error.strerror or error
    return f"{path} cannot be read: {reason}. {remedy or 'Check the path.'}"


_AT_LINE = re.compile(r"\(at line (\d+),")
_BARE_TEXT = re.compile(r"\s*([\w.-]+)\s*=\s*[^\s\"'\[{#].*")


def not_toml(path: Path, error: Exception, remedy: str) -> str:
    """Returns what is to be written where TOML's reader stopped, before what it says itself.

    The value that stands there is not repeated, as it may be a secret.

    Args:
        path: The file.
        error: What was raised when it was parsed.
        remedy: A sentence that says what makes such a file.
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
"""Matches what msgspec says of a value: what is wrong, and the place of it."""


def not_a_record(error: Exception, record: Any) -> str:
    """Returns why a value is not a record, behind the place within it, and what to do.

    Args:
        error: What msgspec raised.
        record: The type that the value was to have.
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
        text = f"write some of {', '.join(known)} ({what})."
    else:
        text = f"{what}; correct it."
    return f"{place}: {text}" if place else text


def keys_at(record: Any, place: str = "") -> tuple[str, ...]:
    """Returns the keys that a type of records knows at a place such as ``profile.links[0]``."""
    struct = _struct(record)
    for name in re.findall(r"(?:^|\.)(\w+)", place):
        # a name in the file may look like a path
        struct = _struct(get_type_hints(struct).get(name)) if struct else None
    return tuple(getattr(struct, "__struct_encode_fields__", ()))


def _struct(hint: Any) -> Any:
    """Returns the record type within a type such as ``tuple[Link, ...] | UnsetType``."""
    if hasattr(hint, "__struct_fields__"):
        return hint
    return next(filter(None, map(_struct, get_args(hint))), None)


def nearest(word: str, known: Sequence[str]) -> str:
    """Returns a hint such as ``; did you mean 'rating'?``, or nothing where none is close."""
    if len(word) > _LONGEST_COMPARED:
        return ""
    close = get_close_matches(word, known[:_MOST_COMPARED], n=1, cutoff=_CLOSE)
    return f"; did you mean {close[0]!r}?" if close else ""
