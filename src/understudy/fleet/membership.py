"""Says why a process cannot join the replicas of a store."""

from collections.abc import Sequence
from typing import Any, Final

from understudy.fleet.address import StoreAddress

SCHEMA: Final = 2
"""The version of what the store holds; replicas of another one do not join."""


def reason_against_joining(address: StoreAddress, reply: Sequence[Any]) -> str:
    """Returns why the store refuses a replica.

    Args:
        address: The store.
        reply: That of the script, which is not ``joined``.
    """
    outcome, known, *others = reply
    if outcome == b"schema":
        return other_version(address, known, others[0])
    names = ", ".join(name.decode() for name in known[:5])
    more = f" and {len(known) - 5} more" if len(known) > 5 else ""  # noqa: PLR2004 - as above
    return (
        f"The replicas at {address} have other contents of {names}{more}; start this one "
        "with the same files and options, or name another database."
    )


def other_version(address: StoreAddress, schema: int, version: bytes) -> str:
    """Returns that a store is in use by a version of understudy with another schema."""
    order = "an older" if schema < SCHEMA else "a newer"
    return (
        f"The store at {address} is in use by {order} version of understudy ({version.decode()}); "
        "run that version here, or name another database."
    )
