"""Findings that are known and accepted, each until a day."""

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
        fingerprint: As the JSON report gives it.
        until: The last day on which it is accepted.
        rule: For whoever reads the file.
        why: As well.
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
        StartupError: It cannot be read, or is not as it must be.
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
    """Returns the findings that no entry accepts, or none that still counts."""
    known = {entry.fingerprint for entry in accepted if today <= entry.until}
    return [finding for finding in findings if finding.fingerprint not in known]
