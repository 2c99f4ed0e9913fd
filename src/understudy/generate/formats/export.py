"""What every format is told, and what it hands out: pieces of files, one after the other.

A format is a generator over a generator, so that a million cases take no more memory than one.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from understudy.generate.cases import LARGE, VARIABLE, Case, CaseSite

TITLE = "Edge cases, made by understudy generate"


_ZEROS = re.compile(rb"\0{65536,}")


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """One run of a format.

    Attributes:
        base_urls: CaseSite to its base address.
        secrets: Variable to value, of those that may be written; none unless it was asked for.
        beside: Name of the directory that takes what cannot stand in the file itself.
    """

    base_urls: Mapping[CaseSite, str]
    secrets: Mapping[str, str] = field(default_factory=dict)
    beside: str = "bodies"

    def url(self, case: Case) -> str:
        """Returns the whole address of a case; secrets in it still are variables."""
        return self.base_urls[case.request.site] + case.request.target


class OutputPiece(NamedTuple):
    """Bytes of a file.

    Attributes:
        name: Where they go, below the output; empty for the output itself, to which they are added.
        content: The bytes.
    """

    name: str
    content: bytes


class OmittedCase(NamedTuple):
    """A case that a tool has no words for, and why."""

    case: Case
    reason: str


OutputPieces = Iterator[OutputPiece | OmittedCase]


class ExportFormat(NamedTuple):
    """A format.

    Attributes:
        write: Yields its pieces.
        about: What it is for.
        suffix: Of its file; empty where it is a directory.
    """

    write: Callable[[Iterable[Case], ExportSettings], OutputPieces]
    about: str
    suffix: str


def line(text: str) -> OutputPiece:
    """Returns a line of the output itself."""
    return OutputPiece("", f"{text}\n".encode())


def plain_text(body: bytes | None) -> str | None:
    """Returns a body as text, or None where it is none that an editor would leave alone."""
    if body is None:
        return None
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    is_plain = not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]", text)
    return text if is_plain else None


class ByteRun(NamedTuple):
    """Bytes of a body, and how often they stand there."""

    content: bytes
    times: int = 1

    @property
    def in_base64(self) -> str:
        """The bytes, once, in base64."""
        return base64.b64encode(self.content).decode()


def byte_runs(body: bytes) -> list[ByteRun]:
    """Returns a body in pieces: a large one's zeros, which fill it, stand there once."""
    if len(body) <= LARGE:
        return [ByteRun(body)]
    found, end = [], 0
    for zeros in _ZEROS.finditer(body):
        found += [ByteRun(body[end : zeros.start()]), ByteRun(b"\0", len(zeros[0]))]
        end = zeros.end()
    return [run for run in (*found, ByteRun(body[end:])) if run.content]


def with_variables(text: str, write: Callable[[str], str]) -> str:
    """Returns a text with each variable as a tool writes it."""
    return VARIABLE.sub(lambda found: write(found[1]), text)


def repeated_header(case: Case) -> str:
    """Returns the name of a header that is sent twice, or nothing."""
    names = [name.lower() for name, _ in case.request.headers]
    return next((name for name in names if names.count(name) > 1), "")


def hides_secret(case: Case) -> bool:
    """Tells whether a secret stands in a body that goes out encoded, where no tool would find it."""
    body = case.request.body
    return (
        body is not None
        and plain_text(body) is None
        and VARIABLE.search(body.decode("latin-1")) is not None
    )


HIDDEN = "a secret in a body that is no plain text"


def comment(case: Case) -> str:
    """Returns what a case is and must lead to, as one line that any comment can hold."""
    expected = " or ".join(case.expected.statuses)
    said = f"{case.description} -> {expected} ({case.expected.because})"
    if case.outcome:
        said = f"{said}; {case.outcome}"
    return "".join(c if c.isprintable() else "?" for c in said)
