"""Collects everything that a run needs to know about a deployment in one value.

Every command that sends requests gets its deployment from ``deployment_of``, so that a key of the
target file means the same to all of them; only the mock in this process is made elsewhere (api).
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import httpx

from understudy.errors import StartupError
from understudy.installation import missing_extra
from understudy.interface.recognition import envelopes, json_types
from understudy.interface.vocabulary import OWN_WORDS, load_vocabulary, with_declared_scopes
from understudy.openapi.loader import Document, load
from understudy.store_address import is_store
from understudy.verify.clock import ClockState, MockClock, Time, machine_clock, machine_time
from understudy.verify.ledger import Ledger, RequestLedger
from understudy.verify.target import PUBLISHED, Target, is_loopback
from understudy.verify.transport import DeploymentTransport
from understudy.verify.wording import Wording

POLITE_INTERVAL: Final = timedelta(milliseconds=50)
"""The least time between two requests to a deployment that is not on this machine."""

MOVABLE_PAUSE: Final = timedelta(hours=2)
"""The longest wait for the hour's limit where waiting only moves a mock's clock."""


def never() -> bool:
    """Returns False: the run has no time limit."""
    return False


@dataclass(frozen=True, slots=True)
class Allowance:
    """The requests and the time that a run may use.

    Attributes:
        requests: Requests in total; None for no limit but the hourly one.
        is_over: Returns True once the run's time is used up, by the machine's clock: the
            deployment's can be moved.
        pause: The longest pause for an hourly limit.
        interval: The shortest time between two requests.
    """

    requests: int | None = None
    is_over: Callable[[], bool] = never
    pause: timedelta = timedelta(0)
    interval: timedelta = timedelta(0)


def over_after(span: timedelta | None) -> Callable[[], bool]:
    """Returns an ``Allowance.is_over`` whose time starts now and ends after `span`.

    Args:
        span: None for no end.
    """
    if span is None:
        return never
    end = machine_time() + span
    return lambda: machine_time() >= end


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployment that is judged, and how it is reached.

    Attributes:
        target: Its addresses, credentials and known people, and what is permitted there.
        transport: Sends requests to it.
        time: Its clock, and how to wait or to move it.
        allowance: The requests and the time that a run may use.
        wording: Translates into its vocabulary and back; None if it uses the interface's.
        document: The OpenAPI document of its resource API; None for the bundled one, or for the one
            that the deployment publishes.
        journal: File of the changes to undo if the process is killed; None to keep none.
        target_file: The file that the target was read from; None without one.
        ledger: File that keeps the count of the hour's requests over runs; None to count in memory.
        shared_ledger: URL of the store that keeps this count for runs of several machines.
    """

    target: Target
    transport: httpx.BaseTransport
    time: Time
    allowance: Allowance = field(default_factory=Allowance)
    wording: Wording | None = None
    document: Document | None = None
    journal: Path | None = None
    ledger: Path | None = None
    target_file: Path | None = None
    shared_ledger: str | None = None

    @property
    def document_file(self) -> Path | None:
        """The file of the document in force; None for the bundled or the published one."""
        named = self.target.document
        return None if named is None or self.is_published else Path(named)

    @property
    def is_published(self) -> bool:
        """True if the document in force is the one that the deployment publishes."""
        return self.target.document == PUBLISHED

    def close(self) -> None:
        """Closes the transport."""
        self.transport.close()


def deployment_of(
    target: Target, target_file: Path | None = None, original: ClockState | None = None
) -> Deployment:
    """Returns the deployment that a target describes; nothing is sent to it yet.

    Args:
        target: The target.
        target_file: The file that the target was read from; its journal and ledger lie beside it.
        original: The clock's state before an earlier run moved it; None if no run did.

    Raises:
        StartupError: The target's document cannot be read.
    """
    if target.permit.clock or original is not None:
        time, allowance = MockClock(target, original=original).time, Allowance(pause=MOVABLE_PAUSE)
    else:
        interval = timedelta(0) if is_loopback(target.base_url) else POLITE_INTERVAL
        time, allowance = machine_clock(), Allowance(interval=interval)
    document = named_document(target)
    return Deployment(
        target=target,
        transport=DeploymentTransport(),
        time=time,
        allowance=allowance,
        wording=wording_of(target, document),
        document=document,
        journal=target_file and target_file.with_suffix(".journal"),
        ledger=_ledger(target, target_file, time),
        shared_ledger=target.ledger if _is_in_store(target, time) else None,
        target_file=target_file,
    )


def named_document(target: Target) -> Document | None:
    """Returns the document that a target names as a file.

    Raises:
        StartupError: The file cannot be read.
    """
    if target.document is None or target.document == PUBLISHED:
        return None
    return load(Path(target.document), tuple(map(Path, target.overlays)))


def wording_of(target: Target, document: Document | None) -> Wording | None:
    """Returns the translation into a target's vocabulary; None if it uses the interface's.

    Args:
        target: The target.
        document: The document in force, whose scopes are added; None for the bundled one.

    Raises:
        StartupError: The vocabulary cannot be read.
    """
    words = OWN_WORDS if target.vocabulary is None else load_vocabulary(Path(target.vocabulary))
    if document is not None:
        words = with_declared_scopes(words, document)
    around, types = ({}, {}) if document is None else (envelopes(document), json_types(document))
    if words == OWN_WORDS and not around and not types:
        return None
    has_document = target.document is not None
    return Wording(words, has_document=has_document, envelopes=around, json_types=types)


def ledger_of(deployment: Deployment) -> RequestLedger:
    """Opens the ledger of the hour's requests; the caller closes it at the end of the run.

    Raises:
        StartupError: The file cannot be used, or the store not reached.
    """
    if deployment.shared_ledger is None:
        return Ledger(deployment.ledger, deployment.time.now())
    try:
        from understudy.verify.shared_ledger import SharedLedger  # noqa: PLC0415 - of an extra
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    return SharedLedger(deployment.shared_ledger, deployment.target.base_url)


def _is_in_store(target: Target, time: Time) -> bool:
    return time.advance is None and target.ledger is not None and is_store(target.ledger)


def _ledger(target: Target, target_file: Path | None, time: Time) -> Path | None:
    if time.advance is not None or _is_in_store(target, time):
        return None  # the hours of a moved clock do not match those of earlier entries
    if target.ledger is not None:
        return Path(target.ledger)
    return target_file and target_file.with_suffix(".ledger")


# Two runs on one target would record each other's changes as the account's state before the run, and
# each would spend the requests that the other keeps for undoing. The operating system releases the
# locks of a process that is killed; the empty lock files stay, as removing one could split its waiters.


@contextmanager
def locked(deployment: Deployment) -> Iterator[None]:
    """Locks the journal and the ledger of a deployment; they need not exist.

    Raises:
        StartupError: Another run uses one of them, or a lock file cannot be written.
    """
    with ExitStack() as stack:
        for path in (deployment.journal, deployment.ledger):
            if path is not None:
                stack.enter_context(_locked(path))
        yield


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout  # noqa: PLC0415 - of an extra

    lock = FileLock(path.with_name(f"{path.name}.lock"), blocking=False)
    try:
        lock.acquire()
    except Timeout as error:
        msg = (
            f"{path} is in use by another run of understudy; "
            "wait until that run has ended, or name another target file."
        )
        raise StartupError(msg) from error
    except OSError as error:
        msg = f"{path} cannot be locked ({error.strerror}); move the target file to where files can be written."
        raise StartupError(msg) from error
    try:
        yield
    finally:
        lock.release()
