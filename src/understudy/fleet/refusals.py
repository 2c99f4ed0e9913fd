"""Says what is wrong with a store, in one line that names the remedy."""

from ssl import SSLCertVerificationError
from typing import Final

from understudy.errors import InsufficientStorage, Problem, StoreUnavailable
from understudy.fleet.address import AUTHORITY_VARIABLE, PASSWORD_VARIABLE, StoreAddress

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
    "NOPASSWORD": f"Leave the password out of the URL and {PASSWORD_VARIABLE}, or set requirepass.",
    "NODATABASE": "Name a lower database number at the end of the URL, such as 0.",
}
"""The kind of an error of the store to what to do."""

_PHRASES: Final = {
    "ACL failure": "NOPERM",
    "can't run this command": "NOPERM",
    "The user executing the script can't": "NOPERM",
    "without any password configured": "NOPASSWORD",
    "DB index is out of range": "NODATABASE",
}
"""A phrase of the store to the kind of error, where its first word is only ``ERR``."""

_MOST_SHOWN: Final = 160
"""Characters of an error of the store that a message has."""


class StoreRefusal(Exception):
    """An error that the store replied with.

    Attributes:
        code: Its kind: its first word, such as ``NOPERM``, or one of ours where that is only ``ERR``.
        words: Its first sentence, without the number of a script and the arguments of a command.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        kind = next((kind for phrase, kind in _PHRASES.items() if phrase in message), None)
        # an error within a script has its word after "ERR"
        kind = kind or next((it for it in _ADVICE if it in message), None)
        self.code = kind or message.partition(" ")[0]
        shown = message
        for end in (". ", " script: ", ", with args"):  # arguments may be a password
            shown = shown.partition(end)[0]
        self.words = shown[:_MOST_SHOWN].rstrip(". ")


class OtherProtocol(ConnectionError):
    """The failure of a connection that one side began with TLS and the other one without.

    Attributes:
        advice: What to do.
    """

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.advice = advice


def described(address: StoreAddress, error: Exception) -> str:
    """Returns what is wrong with a store, and what to do."""
    if isinstance(error, StoreRefusal):
        advice = _ADVICE.get(error.code, "It must be Valkey, or Redis 7 or newer.")
        return f"The store at {address} refuses: {error.words}. {advice}"
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    advice = "Start Valkey there, or mend the URL."
    if isinstance(error, OtherProtocol):
        advice = error.advice
    elif isinstance(error, SSLCertVerificationError):
        advice = f"Name the file with the authority of its certificate in {AUTHORITY_VARIABLE}."
    return f"The store at {address} does not respond: {reason}. {advice}"


def as_problem(address: StoreAddress, error: Exception) -> Problem:
    """Returns the response to a request that needed the store."""
    if isinstance(error, StoreRefusal) and error.code == "OOM":
        return InsufficientStorage(described(address, error), code="insufficient_storage")
    return StoreUnavailable(described(address, error))
