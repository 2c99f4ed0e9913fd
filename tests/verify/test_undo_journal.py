"""The undo journal: whatever cuts it short, the last state that was written whole is read."""

import json
from pathlib import Path

import pytest

from understudy.errors import StartupError
from understudy.verify import undo_journal
from understudy.verify.permits import NotPermitted
from understudy.verify.undo_journal import JournalFile, UndoJournal, read_journal

BASE_URL = "http://127.0.0.1:8080/v3"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "target.journal"


def state(pending: int) -> UndoJournal:
    return UndoJournal(BASE_URL, pending={"own": pending})


def test_the_state_that_was_written_last_is_read(path: Path) -> None:
    file = JournalFile(path)
    for pending in (1, 2, 3):
        file.write(state(pending))
    assert read_journal(path) == state(3)


def test_a_line_that_a_kill_has_cut_is_not_read(path: Path) -> None:
    file = JournalFile(path)
    file.write(state(1))
    first = path.stat().st_size
    file.write(state(2))
    content = path.read_bytes()
    for size in range(first, len(content)):
        path.write_bytes(content[:size])
        assert read_journal(path) == state(1)


def test_a_journal_without_an_end_of_line_is_read(path: Path) -> None:
    path.write_text('{"base_url": "http://127.0.0.1:8080/v3", "pending": {"own": 1}}')
    assert read_journal(path) == state(1)


def test_a_journal_of_before_headers_were_kept_is_read(path: Path) -> None:
    single = {"path": "/s", "method": "PUT", "media_type": "application/json", "body": {}}
    single |= {"who": "owner", "read": "/s"}
    path.write_text(json.dumps({"base_url": BASE_URL, "singles": [single]}))
    (read,) = read_journal(path).singles
    assert read.headers == {"content-type": "application/json"}


def test_a_run_replaces_the_journal_of_an_earlier_one(path: Path) -> None:
    path.write_bytes(b"of an earlier run")
    JournalFile(path).write(state(1))
    assert read_journal(path) == state(1)
    assert path.read_bytes().count(b"\n") == 1


def test_the_journal_does_not_grow_without_bound(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_journal, "LARGEST", 500)
    file = JournalFile(path)
    for pending in range(100):
        file.write(state(pending))
        assert path.stat().st_size < 700
        assert read_journal(path) == state(pending)


def test_what_a_failed_write_leaves_is_replaced_by_the_next(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = JournalFile(path)
    file.write(state(1))

    def fail(_file: JournalFile, line: bytes) -> None:
        with path.open("ab") as opened:
            opened.write(line[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(JournalFile, "_append", fail)
        with pytest.raises(NotPermitted, match="No space left on device"):
            file.write(state(2))
    assert read_journal(path) == state(1)
    file.write(state(2))
    assert read_journal(path) == state(2)


def test_a_file_that_is_no_journal_is_refused(path: Path) -> None:
    path.write_bytes(b"something else\n")
    with pytest.raises(StartupError, match="not an undo journal"):
        read_journal(path)
