"""Holds the rules for registering an application: its name and its redirect addresses.

The dashboard, the admin API and the loader of fixtures apply the same rules.
"""

import re
from urllib.parse import urlsplit

MAX_NAME = 80
"""Characters; a person must be able to read the name on the consent page."""

_REFUSED_SCHEMES = frozenset({"about", "blob", "data", "file", "javascript", "vbscript"})
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9a-fA-F:.]+")
"""Host names and IP addresses; any other character could end the pages' Content-Security-Policy."""


def problem_with_name(name: str) -> str | None:
    """Returns what is wrong with the name of an application, or None."""
    words = " ".join(name.split())
    if not words or len(words) > MAX_NAME:
        return f"give 1 to {MAX_NAME} characters; people read the name on the consent page"
    return None


def problem_with_redirect_uri(uri: str) -> str | None:
    """Returns why an address cannot be registered, or None (RFC 6749, 3.1.2; RFC 8252, 7).

    It must be absolute, and without a fragment, credentials, or a scheme that runs scripts.
    """
    if _is_registrable(uri):
        return None
    return (
        f"{uri!r} cannot be registered; give an absolute http or https address without a fragment"
    )


def _is_registrable(uri: str) -> bool:
    if not (uri.isascii() and uri.isprintable()) or " " in uri or "#" in uri:
        return False
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port  # a port over 65535 raises
    except ValueError:
        return False
    if parts.scheme in _REFUSED_SCHEMES or "@" in parts.netloc:
        return False
    if host is not None and not _HOST.fullmatch(host):
        return False
    return host is not None if parts.scheme in {"http", "https"} else "." in parts.scheme
