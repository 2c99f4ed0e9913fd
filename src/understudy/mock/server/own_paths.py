"""Names the paths that are the mock's own, whatever the document in force says."""

BASE_PATH = "/__admin"

CONSOLE_PATH = "/__console"
"""The path of the console: files without any data, which call the admin API."""

PRIVATE_PATHS = (BASE_PATH, CONSOLE_PATH)
"""Beginnings of the paths of the mock's own user, which no client of the service calls."""

HEALTH_PATH = f"{BASE_PATH}/health"
READY_PATH = f"{BASE_PATH}/ready"
"""Asks what keeps the worlds, too: replicas without their store are healthy, and not ready."""

METADATA_PATH = "/.well-known/oauth-authorization-server"
"""Describes the authorization server to clients that configure themselves (RFC 8414, 3)."""


def is_reserved(path: str) -> bool:
    """Tells whether a path is the console's or below it, whatever the document says."""
    return path.startswith(CONSOLE_PATH) and path[len(CONSOLE_PATH) :][:1] in {"", "/"}
