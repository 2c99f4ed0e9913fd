"""Keeps two runs from using one undo journal or one ledger at the same time.

Two runs on one target would record each other's changes as the account's state before the run, and
each would spend the requests that the other keeps for undoing. The operating system releases the
locks of a process that is killed; the empty lock files stay, as removing one could split its waiters.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from understudy.errors import StartupError
from understudy.verify.deployment import Deployment


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
