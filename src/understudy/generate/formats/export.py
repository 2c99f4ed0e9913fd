"""Defines what every format needs: the settings of an export, the pieces of files, and their writer.

A format is a generator over a generator, so that a million cases take no more memory than one.
"""

import base64
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from errno import ENOENT
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from understudy.cases.drafts import dumps
from understudy.cases.model import LARGE, VARIABLE, Case, CaseSite, SetUp
from understudy.cases.test_data import SECRETS
from understudy.errors import StartupError

TITLE = "Edge cases, made by understudy generate"

BASE_URL_NAMES: Mapping[CaseSite, str] = {"resource": "BASE_URL", "authorization": "AUTH_URL"}
"""The variable of each site's base URL; every format uses these names."""

SET_UP = "set-up: obtains what the next case uses"

HIDDEN = "a secret in a body that is not plain text"

_BASE_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:_~-]+(/[A-Za-z0-9._~:@!$&'()*+,;=%/-]*)?")
"""Matches base URLs (RFC 3986, 3) without user information, which would be a secret in files."""

_CHANGED_BY_EDITORS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")

_ZEROS = re.compile(rb"\0{65536,}")


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """The settings of one export.

    Attributes:
        base_urls: The base URL of each site, without a trailing slash.
        secrets: The values of the secrets that may be written, by variable; empty by default.
        beside: Name of the directory for bodies that cannot be written in the file itself.
        stem: Name of the output without its suffix; empty if no file can be beside it.
        is_in_worlds: Whether each virtual user of a load test gets a separate world of a mock.
    """

    base_urls: Mapping[CaseSite, str]
    secrets: Mapping[str, str] = field(default_factory=dict)
    beside: str = "bodies"
    stem: str = ""
    is_in_worlds: bool = False

    @property
    def variables(self) -> dict[str, str]:
        """The value of every variable, by name; empty for a secret that may not be written."""
        urls = {BASE_URL_NAMES[site]: url for site, url in self.base_urls.items()}
        return {**urls, **{name: self.secrets.get(name, "") for name in SECRETS}}


def base_url(text: str, option: str) -> str:
    """Returns a base URL without a trailing slash.

    Raises:
        StartupError: The text is no HTTP URL, or has a query, a fragment, or illegal characters.
    """
    if not _BASE_URL.fullmatch(text):
        msg = f"{option} {text!r} is not a URL; write it as https://host/path."
        raise StartupError(msg)
    return text.rstrip("/")


class OutputPiece(NamedTuple):
    """Bytes of a file.

    Attributes:
        name: Path of the file beside the output; empty for the output itself, which grows.
        content: The bytes.
    """

    name: str
    content: bytes


class OmittedCase(NamedTuple):
    """A case that the format's tool cannot send as it is, and the reason."""

    case: Case
    reason: str


OutputPieces = Iterator[OutputPiece | OmittedCase]


class ExportFormat(NamedTuple):
    """A format.

    Attributes:
        write: Yields the pieces of the output.
        about: What the format is for.
        suffix: Suffix of its file; empty for a directory.
        has_sequences: Whether it carries a value from a response into the next request.
        has_users: Whether its tool has virtual users, each of which can have a separate world.
    """

    write: Callable[[Iterable[Case], ExportSettings], OutputPieces]
    about: str
    suffix: str
    has_sequences: bool = False
    has_users: bool = False


CaseWriter = Callable[[Case, SetUp | None], Iterable[OutputPiece]]
"""Writes a case, after its set-up request unless an earlier case of the operation shares that."""


def written(
    cases: Iterable[Case], reason: Callable[[Case], str], write: CaseWriter
) -> OutputPieces:
    """Yields the pieces of cases, and the cases that a format omits.

    A sequence is of no use without one of its steps, so all are omitted.

    Args:
        cases: The cases, in order.
        reason: Returns why the format omits a case that hides no secret, or an empty string.
        write: Writes a case.
    """
    made: set[str] = set()
    for _, steps in groupby(
        cases, lambda case: case.id if case.step is None else case.step.sequence
    ):
        group = list(steps)
        reasons = (HIDDEN if hides_secret(case) else reason(case) for case in group)
        why = next(filter(None, reasons), "")
        for case in group:
            if why:
                yield OmittedCase(case, why)
                continue
            is_made = case.operation in made and case.set_up is not None and case.set_up.is_shared
            if case.set_up is not None:
                made.add(case.operation)
            yield from write(case, None if is_made else case.set_up)


def looked_ahead(cases: Iterable[Case]) -> tuple[bool, Iterable[Case]]:
    """Returns whether the cases are steps of sequences, as the first tells, and all the cases."""
    stream = iter(cases)
    first = next(stream, None)
    if first is None:
        return False, ()
    return first.step is not None, chain((first,), stream)


def line(text: str) -> OutputPiece:
    """Returns a line of the output itself."""
    return OutputPiece("", f"{text}\n".encode())


def plain_text(body: bytes | None) -> str | None:
    """Returns a body as text, or None for a body that an editor might change."""
    if body is None:
        return None
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return None if _CHANGED_BY_EDITORS.search(text) else text


class ByteRun(NamedTuple):
    """Bytes of a body, and how often they are repeated."""

    content: bytes
    times: int = 1

    @property
    def in_base64(self) -> str:
        """The bytes in base64, once."""
        return base64.b64encode(self.content).decode()


def byte_runs(body: bytes) -> list[ByteRun]:
    """Returns a body as runs; the zeros that fill a large body are written once."""
    if len(body) <= LARGE:
        return [ByteRun(body)]
    runs, end = [], 0
    for zeros in _ZEROS.finditer(body):
        runs += [ByteRun(body[end : zeros.start()]), ByteRun(b"\0", len(zeros[0]))]
        end = zeros.end()
    return [run for run in (*runs, ByteRun(body[end:])) if run.content]


def in_braces(text: str) -> str:
    """Returns a text with each variable as ``{{NAME}}``."""
    return VARIABLE.sub(lambda match: "{{" + match[1] + "}}", text)


def body_in_braces(body: bytes | None) -> bytes | None:
    """Returns a body with each variable as ``{{NAME}}``; every byte survives ISO 8859-1."""
    return None if body is None else in_braces(body.decode("latin-1")).encode("latin-1")


def is_template(text: str) -> bool:
    """Tells whether a tool with ``{{NAME}}`` variables would interpret a text."""
    return "{{" in text or "}}" in text


def javascript(value: object) -> str:
    """Returns a JSON value as a JavaScript literal, in which nothing is interpreted.

    U+2028 and U+2029 end a line in older engines; ``<`` could end a script element.
    """
    text = dumps(value).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return text.replace("<", "\\u003c")


def repeated_header(case: Case) -> str:
    """Returns the name of a header that is sent twice, or an empty string."""
    names = [name.lower() for name, _ in case.request.headers]
    return next((name for name in names if names.count(name) > 1), "")


def hides_secret(case: Case) -> bool:
    """Tells whether a secret is in a body that is written encoded, where no tool would find it."""
    return bool(case.request.body_variables) and plain_text(case.request.body) is None


def status_pattern(case: Case) -> str:
    """Returns the expected statuses as a regular expression of Python and JavaScript."""
    statuses = (status.replace("X", "[0-9]") for status in case.expected.statuses)
    return f"^({'|'.join(statuses)})$"


def expected_location(case: Case, header: str, expect: str) -> str:
    """Returns the lines of a test in JavaScript that expect an error in a redirect, or none.

    Args:
        case: The case.
        header: The expression that reads the header Location.
        expect: The tool's name for Chai's function ``expect``.
    """
    if not case.expected.location:
        return ""
    negation = "" if case.expected.location == "with error" else ".not"
    return (
        f"\n  const location = {header};"
        f"\n  if (location) {expect}(location).to{negation}.match(/[?&#]error=/);"
    )


def title(case: Case) -> str:
    """Returns the title of a case on one line."""
    return printable(case.title)


def comment(case: Case) -> str:
    """Returns a comment in one printable line: the description of a case, and what it expects."""
    expected = " or ".join(case.expected.statuses)
    text = f"{case.description} -> {expected} ({case.expected.because})"
    return printable(f"{text}; {case.outcome}" if case.outcome else text)


def printable(text: str) -> str:
    """Returns a text on one line, with control characters replaced by question marks."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "?" for character in text)


_PLACE: Final = re.compile("__([A-Z]+)__")
"""Matches a placeholder in a script, for the value of the name in lower case."""


def script(name: str, /, **values: str) -> str:
    """Returns the code of a file in ``scripts``, with values in place of its placeholders.

    ``steps.js`` defines ``stepFaults``, which stores the values in the response to a step for later
    steps, and returns the assertions that fail; it takes the JSON form of a ``SequenceStep``.
    ``steps.py-tpl`` defines ``step_faults``, the same in Python; it needs ``json``, ``unquote`` and
    ``urlsplit``, and has no single quote, since a shell script has it in single quotes.

    Args:
        name: The file; Python ends in ``.py-tpl`` there, as it is not a module of this package.
        values: The value of each placeholder ``__NAME__``; without any, the code is unchanged.
    """
    code = _code(name)
    return _PLACE.sub(lambda place: values[place[1].lower()], code) if values else code


def indented(code: str) -> str:
    """Returns code indented by two columns; line ends other than LF, as in texts, stay."""
    return "\n".join(f"  {text}" for text in code.split("\n"))


@cache
def _code(name: str) -> str:
    path = Path(__file__).parent / "scripts" / name
    return path.read_text(encoding="utf-8").removesuffix("\n")


LISTING: Final = ".understudy.json"
"""The file in an output directory that lists the files which were written there."""


@dataclass
class Omissions:
    """The cases that could not be written.

    Attributes:
        reasons: The number of cases for each reason.
        ids: Ids of the cases, in order.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)


def beside(out: Path | None) -> str:
    """Returns the name of an output's own directory for bodies, which is beside it."""
    return "bodies" if out is None else f"{out.name}.bodies"


def prepare(form: ExportFormat, out: Path | None, *, is_forced: bool = False) -> None:
    """Checks that an output can be written, without changing anything.

    Args:
        form: The format, which is a file or a directory.
        out: The output; None for standard output.
        is_forced: Whether an output of an earlier run is replaced.

    Raises:
        StartupError: Something is there already, or the output cannot be written.
    """
    if out is None and not form.suffix:
        msg = "This format is a directory; name it with --out."
        raise StartupError(msg)
    if out is None:
        return
    try:
        if out.exists():
            _expect_replaceable(form, out, is_forced=is_forced)
        elif form.suffix:
            with out.open("wb"):
                pass
            out.unlink()
        else:
            out.mkdir(parents=True)
            out.rmdir()
    except OSError as error:
        raise _unwritable(out, error) from error


def _expect_replaceable(form: ExportFormat, out: Path, *, is_forced: bool) -> None:
    if out.is_dir() and form.suffix:
        msg = f"{out} is a directory; name a file, such as --out {out / 'cases'}{form.suffix}"
    elif not out.is_dir() and not form.suffix:
        msg = f"{out} is a file, and this format is a directory; give --out a new name."
    elif out.is_dir() and not any(out.iterdir()):
        return
    elif out.is_dir() and not (out / LISTING).is_file():
        msg = f"{out} is a directory that generate did not write; give --out a new name."
    elif is_forced:
        return
    else:
        msg = f"{out} is there already; give --out a new name, or replace it with --force."
    raise StartupError(msg)


def _unwritable(out: Path | None, error: OSError) -> StartupError:
    name = out or "standard output"
    remedy = "; name a file in a directory that is there" if error.errno == ENOENT else ""
    return StartupError(f"{name} cannot be written: {error.strerror or error}{remedy}.")


def save(
    pieces: Iterable[OutputPiece | OmittedCase],
    form: ExportFormat,
    out: Path | None,
    *,
    is_forced: bool = False,
) -> Omissions:
    """Writes pieces as they come.

    Args:
        pieces: The pieces of the format.
        form: The format, which is a file or a directory.
        out: The output; None for standard output.
        is_forced: Whether an output of an earlier run is replaced.

    Raises:
        StartupError: Something is there already, the output cannot be written, or it needs more
            than one file.
    """
    prepare(form, out, is_forced=is_forced)
    omissions = Omissions()
    try:
        with _opened(form, out) as (main, root, written):
            for piece in pieces:
                if isinstance(piece, OmittedCase):
                    omissions.reasons[piece.reason] += 1
                    omissions.ids.append(piece.case.id)
                elif piece.name:
                    _write_beside(root, piece)
                    written.append(piece.name)
                elif main is not None:
                    main.write(piece.content)
    except OSError as error:
        raise _unwritable(out, error) from error
    return omissions


@contextmanager
def _opened(
    form: ExportFormat, out: Path | None
) -> Iterator[tuple[BinaryIO | None, Path | None, list[str]]]:
    """Yields the main file, the directory of further files, and a list for the names of these.

    The files of an earlier run are removed from a collection, and from the directory for bodies.
    """
    written: list[str] = []
    if out is None:
        yield sys.stdout.buffer, None, written
        sys.stdout.buffer.flush()  # so that the verdict on stderr comes last where both are one pipe
        return
    root = out.parent if form.suffix else out
    own = out.parent / beside(out) if form.suffix else out
    _clear(own)
    root.mkdir(parents=True, exist_ok=True)
    try:
        with out.open("wb") if form.suffix else nullcontext() as main:
            yield main, root, written
    finally:
        paths = [root / name for name in written]
        names = [path.relative_to(own).as_posix() for path in paths if path.is_relative_to(own)]
        if names:
            (own / LISTING).write_text(json.dumps(names, indent=1))


def _clear(directory: Path) -> None:
    """Removes the files that an earlier run wrote into a directory; files of others stay."""
    for name in _listed(directory):
        path = directory / name
        if path.resolve().is_relative_to(directory.resolve()):
            path.unlink(missing_ok=True)
            with suppress(OSError):  # it holds other files
                path.parent.rmdir()
    (directory / LISTING).unlink(missing_ok=True)


def _listed(directory: Path) -> list[str]:
    """Returns the names of the files that an earlier run wrote into a directory."""
    try:
        names: list[str] = json.loads((directory / LISTING).read_bytes())
    except (OSError, ValueError):
        return []
    return names


def _write_beside(root: Path | None, piece: OutputPiece) -> None:
    if root is None:
        msg = "This output needs files of its own beside it; name a file with --out."
        raise StartupError(msg)
    path = root / piece.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(piece.content)
