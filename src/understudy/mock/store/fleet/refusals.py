"""Says what is wrong with a store, in one line that names the remedy."""

from typing import Final

from understudy.errors import InsufficientStorage, Problem, StoreUnavailable
from understudy.mock.store.fleet.address import PASSWORD_VARIABLE, StoreAddress

NO_SCRIPT: Final = "NOSCRIPT"

_ADVICE: Final = {
    "WRONGPASS": f"Mend the user or the password in the URL, or {PASSWORD_VARIABLE}.",
    "NOAUTH": f"It wants a password: put it into the URL, or into {PASSWORD_VARIABLE}.",
    "NOPERM": "Give its user the rights that docs/how-to/fleet.md lists.",
    "READONLY": "It is a replica that takes no writes; name the primary.",
    "MASTERDOWN": "It is a replica without its primary; name the primary.",
    "LOADING": "It is still reading its files; wait a moment.",
    "MISCONF": "It cannot write to its disk, and takes no writes until it can.",
    "OOM": "Its memory is used up: end worlds, or give it a larger maxmemory.",
    "CROSSSLOT": "It is a cluster; a fleet needs one server.",
}
"""The first word of an error of the store to what to do."""


class StoreRefusal(Exception):
    """An error that the store replied with.

    Attributes:
        code: Its first word, such as ``NOPERM``.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        word = message.partition(" ")[0]
        # an error within a script has its word after "ERR", but for rights, which it describes
        is_right = "ACL failure" in message or "can't run this command" in message
        self.code = "NOPERM" if is_right else next((it for it in _ADVICE if it in message), word)


def described(address: StoreAddress, error: Exception) -> str:
    """Returns what is wrong with a store, and what to do."""
    if isinstance(error, StoreRefusal):
        advice = _ADVICE.get(error.code, "It must be Valkey, or Redis 7 or newer.")
        return f"The store at {address} refuses: {error.code}. {advice}"
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return (
        f"The store at {address} does not respond: {reason}. Start Valkey there, or mend the URL."
    )


def as_problem(address: StoreAddress, error: Exception) -> Problem:
    """Returns the response to a request that needed the store."""
    if isinstance(error, StoreRefusal) and error.code == "OOM":
        return InsufficientStorage(described(address, error), code="insufficient_storage")
    return StoreUnavailable(described(address, error))
