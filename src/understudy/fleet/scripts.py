"""Holds the scripts that the store runs: each is one atomic step."""

import hashlib
from importlib.resources import files
from typing import NamedTuple


class Script(NamedTuple):
    """A script in Lua.

    Attributes:
        text: The whole of it.
        digest: What the store knows it by once it has run.
    """

    text: str
    digest: str


def _script(name: str) -> Script:
    """Returns a script behind the functions that all of them share."""
    directory = files(__package__) / "lua"
    text = "".join((directory / f"{part}.lua").read_text("utf-8") for part in ("shared", name))
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


JOIN = _script("join")
"""Lets a replica join the fleet, or says why it cannot."""

COMMIT = _script("commit")
"""Commits a transaction, or says what is not as the replica believes."""

PASS_TURN = _script("turn")
"""Passes on the turn at a world that several replicas change at once."""

HISTORY = _script("history")
"""Says how to undo the last changes of a world."""

STORED = _script("stored")
"""Lists the worlds, with what they take of the store, or ends one."""
