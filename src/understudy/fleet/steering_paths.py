"""Names paths of the admin API whose handlers need more than a replica has of a world."""

from typing import Final

from understudy.mock.server.guards import BASE_PATH

LISTING: Final = (f"{BASE_PATH}/worlds", f"{BASE_PATH}/snapshots", f"{BASE_PATH}/exercised")
"""Beginnings of the paths whose handlers use the list of worlds or of snapshots."""

HISTORIES: Final = f"{BASE_PATH}/changes"
"""Beginning of the paths whose handlers use the whole history of a world."""
