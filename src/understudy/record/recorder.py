"""Keeps what may be kept of the exchanges that pass, and writes it whole or not at all."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from understudy.errors import StartupError
from understudy.exchange import har
from understudy.exchange.messages import Exchange
from understudy.interface.facts import facts_text
from understudy.interface.operations import Routes
from understudy.limits import RECORDED_BYTES
from understudy.openapi.loader import Document
from understudy.record.anonymising import Anonymiser
from understudy.record.dropped import Dropped
from understudy.record.pseudonyms import Pseudonyms
from understudy.record.recorded_fixtures import Files, RecordedFixtures
from understudy.record.seen_people import SeenPeople
from understudy.record.traffic_facts import TrafficFacts
from understudy.verify.catalogue import catalogue
from understudy.verify.evaluator import Evaluator
from understudy.verify.target import Target

_ENTRY_BYTES: Final = 1000
"""The approximate size of an entry beside its bodies."""


@dataclass
class Recorder:
    """Keeps exchanges as pseudonyms from the first moment on.

    Attributes:
        target: The deployment.
        pseudonyms: Replaces values.
        anonymiser: Makes exchanges that may be kept.
        dropped: Counts what is left out.
        started: Start of the recording.
        people: The people that were seen.
        facts: The options of switches that were seen.
        entries: The entries of the HTTP archive.
        left_out: The number of exchanges beyond the size of a recording.
    """

    target: Target
    pseudonyms: Pseudonyms
    anonymiser: Anonymiser
    dropped: Dropped
    started: datetime
    people: SeenPeople = field(default_factory=SeenPeople)
    facts: TrafficFacts = field(default_factory=TrafficFacts)
    entries: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0
    _bytes: int = 0

    def take(self, exchange: Exchange, evaluator: Evaluator) -> None:
        """Takes an exchange, before it is judged."""
        self.facts.read(exchange, evaluator.history)
        kept = self.anonymiser.anonymous(exchange)
        if kept is None:
            return
        self.people.add(kept)
        size = len(kept.request.body) + len(kept.response.body) + _ENTRY_BYTES
        if self._bytes + size > RECORDED_BYTES.most:
            self.left_out += 1
            return
        self._bytes += size
        self.entries.append(har.entry_of(kept, RECORDED_BYTES.most, _number=exchange.number))

    def files(self) -> Files:
        """Returns the files of the recording by their paths in its directory."""
        fixtures = RecordedFixtures(
            self.people, self.pseudonyms, self.anonymiser.pictures, self.target
        )
        files = fixtures.files()
        archive = har.archive("understudy record", self.entries)
        files["traffic.har"] = orjson.dumps(archive, option=orjson.OPT_INDENT_2)
        files["dropped.md"] = self.dropped.markdown().encode()
        host = urlsplit(self.target.base_url).hostname or ""
        day = self.started.date()
        facts = self.facts.facts(catalogue(), host, day, len(self.entries))
        if facts.facts or facts.unsettled:
            files["facts.yaml"] = facts_text(facts).encode()
        return files


def recorder_of(
    key: bytes,
    target: Target,
    routes: Routes,
    documents: Mapping[str, Document],
    started: datetime,
) -> Recorder:
    """Returns what keeps the exchanges of a recording.

    Args:
        key: The project's key.
        target: The deployment.
        routes: Finds what the document says of an operation.
        documents: Site to the document in force there.
        started: Start of the recording.
    """
    pseudonyms, dropped = Pseudonyms(key, target, started), Dropped()
    anonymiser = Anonymiser(routes, documents, pseudonyms, dropped)
    return Recorder(target, pseudonyms, anonymiser, dropped, started)


def expect_new(directory: Path) -> None:
    """Makes sure that a recording can be written; leaves nothing behind.

    Raises:
        StartupError: The directory is there and not empty, or cannot be written.
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
    """Writes a recording: beside its place first, and there at once.

    Raises:
        StartupError: It cannot be written; then nothing of it is.
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
