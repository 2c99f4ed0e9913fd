"""Collects anonymised exchanges, and writes the files of a recording, all or none.

By the project's key, a person has the same pseudonym in every recording.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from understudy.errors import StartupError, unreadable
from understudy.exchange import har
from understudy.exchange.messages import Exchange
from understudy.interface.facts import Facts, Unsettled, facts_text
from understudy.interface.operations import Routes
from understudy.interface.rules import Rule
from understudy.limits import RECORDED_BYTES
from understudy.openapi.loader import Document
from understudy.openapi.operations import operations
from understudy.record.allow_list import Dropped
from understudy.record.anonymising import Anonymiser
from understudy.record.personal_values import PersonalValues, personal_values
from understudy.record.pseudonyms import Pseudonyms
from understudy.record.recorded_fixtures import Files, RecordedFixtures, RecordedStubs, as_yaml
from understudy.record.seen_people import SeenPeople
from understudy.verify.catalogue import catalogue
from understudy.verify.deployment import Deployment, named_document
from understudy.verify.evaluator import Evaluator
from understudy.verify.history import History
from understudy.verify.learner import fact_of_switch
from understudy.verify.readings import options_shown
from understudy.verify.shapes import bundled
from understudy.verify.shown_requests import SHOWN
from understudy.verify.target import Target


@dataclass
class ShownOption:
    """The evidence for one option of a switch."""

    seen: int = 0
    lines: dict[str, None] = field(default_factory=dict)


@dataclass
class TrafficFacts:
    """The options that exchanges have shown so far.

    Attributes:
        shown: Rule to option to its evidence.
    """

    shown: dict[str, dict[str, ShownOption]] = field(default_factory=dict)

    def read(self, exchange: Exchange, history: History) -> None:
        """Reads the options that an exchange shows; called before it is added to the history."""
        for rule, option in options_shown(exchange, history):
            name = "a token" if exchange.identity.kind == "unknown" else exchange.identity.name
            shown = self.shown.setdefault(rule, {}).setdefault(option, ShownOption())
            shown.seen += 1
            if len(shown.lines) < SHOWN:
                shown.lines[f"{exchange.title} as {name}: {exchange.status}"] = None

    def facts(self, rules: Mapping[str, Rule], deployment: str, day: date, requests: int) -> Facts:
        """Returns the facts file of the recording."""
        settled, unsettled = [], []
        for rule, options in self.shown.items():
            switch = rules[rule].switch
            if switch is None:
                continue
            if len(options) > 1:
                why = f"the readings contradict each other: {', '.join(options)}"
                unsettled.append(Unsettled(rule, why))
                continue
            ((option, shown),) = options.items()
            lines = tuple(shown.lines)
            settled.append(
                fact_of_switch(rule, switch, option, shown_by=lines, seen=shown.seen, day=day)
            )
        return Facts(deployment, day.isoformat(), requests, tuple(settled), tuple(unsettled))


_ENTRY_BYTES: Final = 1000
"""The approximate size of a HAR entry without its bodies."""


class Recorder:
    """Anonymises exchanges as they come, and keeps them; originals are never stored.

    Args:
        key: The project's key.
        target: The deployment.
        routes: Finds the operations of the document.
        documents: Site to the document of its API.
        started: Start of the recording.

    Attributes:
        pseudonyms: Makes the pseudonyms.
        dropped: Counts the parts that are left out.
        entries: The entries of the HAR file.
        left_out: The number of exchanges that were too many for a recording.
    """

    def __init__(
        self,
        key: bytes,
        target: Target,
        routes: Routes,
        documents: Mapping[str, Document],
        started: datetime,
    ) -> None:
        self.target = target
        self.dropped = Dropped()
        self.entries: list[dict[str, Any]] = []
        self.left_out = 0
        self.pseudonyms = Pseudonyms(key, target, started)
        self._anonymiser = Anonymiser(routes, documents, self.pseudonyms, self.dropped)
        self._started = started
        served = operations(named_document(target) or bundled("service.yaml"))
        self._stubs = RecordedStubs(served)
        self._people = SeenPeople()
        self._facts = TrafficFacts()
        self._bytes = 0

    def take(self, exchange: Exchange, evaluator: Evaluator) -> None:
        """Records an exchange; called before it is judged."""
        self._facts.read(exchange, evaluator.history)
        kept = self._anonymiser.anonymous(exchange)
        if kept is None:
            return
        self._people.add(kept)
        size = len(kept.request.body) + len(kept.response.body) + _ENTRY_BYTES
        if self._bytes + size > RECORDED_BYTES.most:
            self.left_out += 1
            return
        self._bytes += size
        self._stubs.add(kept)
        self.entries.append(har.entry_of(kept, RECORDED_BYTES.most, _number=exchange.number))

    def files(self) -> Files:
        """Returns the files of the recording: path in its directory to content."""
        fixtures = RecordedFixtures(
            self._people, self.pseudonyms, self._anonymiser.pictures, self.target
        )
        files = fixtures.files()
        stubs = self._stubs.stubs(fixtures.slugs)
        if stubs:
            files["stubs/recorded.yaml"] = as_yaml(stubs)
        archive = har.archive("understudy record", self.entries)
        files["traffic.har"] = orjson.dumps(archive, option=orjson.OPT_INDENT_2)
        files["dropped.md"] = self.dropped.markdown().encode()
        host = urlsplit(self.target.base_url).hostname or ""
        day = self._started.date()
        facts = self._facts.facts(catalogue(), host, day, len(self.entries))
        if facts.facts or facts.unsettled:
            files["facts.yaml"] = facts_text(facts).encode()
        return files


def expect_new(directory: Path) -> None:
    """Expects a directory that a recording can be written to; leaves no file behind.

    Raises:
        StartupError: The directory exists and is not empty, or cannot be written.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        msg = f"--out: {directory} already exists; name a new directory, or an empty one."
        raise StartupError(msg)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(prefix=".understudy-", dir=directory.parent).cleanup()
    except OSError as error:
        raise _unwritable(directory, error) from error


def write_whole(files: Files, directory: Path) -> None:
    """Writes a recording to a temporary directory, which is then renamed, so that it is complete.

    Raises:
        StartupError: The recording cannot be written; no file is left then.
    """
    try:
        draft = Path(tempfile.mkdtemp(prefix=".understudy-", dir=directory.parent))
    except OSError as error:
        raise _unwritable(directory, error) from error
    try:
        for name, content in files.items():
            path = draft / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        draft.chmod(0o755)
        draft.replace(directory)
    except OSError as error:
        raise _unwritable(directory, error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _unwritable(directory: Path, error: OSError) -> StartupError:
    reason = error.strerror or error
    return StartupError(f"--out: {directory} cannot be written ({reason}); name another.")


KEY_BYTES: Final = 32
_KEY: Final = re.compile(r"[0-9a-f]{64}\n?")


def key_file(named: Path | None, target_file: Path | None) -> Path:
    """Returns the path of the key: the named one, or else beside the target file."""
    if named is not None:
        return named
    return Path("understudy.key") if target_file is None else target_file.with_suffix(".key")


def load_key(path: Path, tell: Callable[[str], object] | None = None) -> bytes:
    """Returns the key of a file; makes a new key, readable by this user only, if it is missing.

    Args:
        path: The file.
        tell: Called with a line about a new key.

    Raises:
        StartupError: The file cannot be read or written, is not a key, or others can read it.
    """
    try:
        key = _new_key(path)
    except FileExistsError:
        return _read_key(path)
    except OSError as error:
        msg = f"--key: {path} cannot be written ({error.strerror}); name a file that can be."
        raise StartupError(msg) from error
    if tell is not None:
        tell(
            f"Wrote the key of the project's pseudonyms to {path}; keep it out of version control."
        )
    return key


def _read_key(path: Path) -> bytes:
    try:
        text, mode = path.read_text("ascii"), path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(
            unreadable(f"--key {path}", error, "Name the key of the project.")
        ) from error
    if not _KEY.fullmatch(text):
        msg = f"--key: {path} is not a key of `understudy record`, which has 64 hexadecimal digits."
        raise StartupError(msg)
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        msg = f"--key: others can read {path}, and with it undo pseudonyms; run: chmod 600 {path}"
        raise StartupError(msg)
    return bytes.fromhex(text.strip())


def people_of_reports(deployment: Deployment, target_file: Path | None) -> PersonalValues | None:
    """Returns an object that hides personal values in reports; None for a mock, which has none.

    The pseudonyms are those of the project's recordings, or without a key, random for this run.

    Raises:
        StartupError: The key cannot be read.
    """
    if deployment.target.is_mock:
        return None
    path = key_file(None, target_file)
    key = load_key(path) if path.exists() else os.urandom(KEY_BYTES)
    return personal_values(key, (deployment,))


def _new_key(path: Path) -> bytes:
    """Makes a new key file, and returns the key.

    Raises:
        OSError: The file exists already, or cannot be written.
    """
    key = os.urandom(KEY_BYTES)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key.hex() + "\n")
    return key
