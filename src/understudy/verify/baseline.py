"""Baselines: known findings that are accepted until a date."""

import tomllib
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from msgspec import Struct, ValidationError, convert

from understudy.errors import StartupError
from understudy.verify.findings import Finding


class Accepted(Struct, frozen=True, forbid_unknown_fields=True):
    """One accepted finding.

    Attributes:
        fingerprint: The finding's fingerprint in the JSON report.
        until: The last day on which it is accepted.
        rule: The rule's id, for readers of the file.
        why: The reason, for readers of the file.
    """

    fingerprint: str
    until: date
    rule: str = ""
    why: str = ""


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    accept: tuple[Accepted, ...] = ()


def load_baseline(path: Path) -> tuple[Accepted, ...]:
    """Reads a baseline file: TOML, a table ``[[accept]]`` for each finding.

    Raises:
        StartupError: It cannot be read or is invalid.
    """
    try:
        return convert(tomllib.loads(path.read_text()), _File).accept
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise StartupError(msg) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        msg = f"{path}: {error}. An [[accept]] has fingerprint and until, such as 2027-01-31."
        raise StartupError(msg) from error


def unaccepted(
    findings: Iterable[Finding], accepted: Iterable[Accepted], today: date
) -> list[Finding]:
    """Returns the findings that no entry accepts today."""
    known = {entry.fingerprint for entry in accepted if today <= entry.until}
    return [finding for finding in findings if finding.fingerprint not in known]
