"""Holds the rules for registering an application: its name and its redirect addresses.

The dashboard, the admin API and the loader of fixtures apply the same rules.
"""

import re
from unicodedata import category
from urllib.parse import SplitResult, urlsplit

MAX_NAME = 80
"""Characters; a person must be able to read the name on the consent page."""

_UNREADABLE = frozenset({"Cc", "Cn", "Co", "Cs"})
"""Categories of characters that no font shows: controls, and those that Unicode does not assign."""

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of what is behind them (UAX 9, 2)."""

_INVISIBLE = frozenset({"Cf", "Mn", "Zs"})
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that look like a space."""

_REFUSED_SCHEMES = frozenset({"about", "blob", "data", "file", "javascript", "vbscript"})
_WEB_SCHEMES = frozenset({"http", "https"})
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9a-fA-F:.]+")
"""Host names and IP addresses; any other character could end the pages' Content-Security-Policy."""


def problem_with_name(name: str) -> str | None:
    """Returns what is wrong with the name of an application, or None."""
    words = " ".join(name.split())
    if not words or len(words) > MAX_NAME:
        return f"give 1 to {MAX_NAME} characters; people read the name on the consent page"
    hidden = next((it for it in words if it in _TURNING or category(it) in _UNREADABLE), None)
    if hidden is not None:
        return f"leave out U+{ord(hidden):04X}; people read the name on the consent page"
    if all(it in _BLANK or category(it) in _INVISIBLE for it in words):
        return "give a character that can be seen; people read the name on the consent page"
    return None


def problem_with_redirect_uri(uri: str) -> str | None:
    """Returns why an address cannot be registered, or None (RFC 6749, 3.1.2; RFC 8252, 7).

    It must be absolute, and without a fragment, credentials, or a scheme that runs scripts.
    """
    advice = _advice_on_text(uri)
    if advice is None:
        try:
            parts = urlsplit(uri)
            parts.port  # noqa: B018 - one over 65535 raises
        except ValueError as error:
            advice = f"it is not a URL: {error}"
        else:
            advice = _advice_on_scheme(parts) or _advice_on_host(parts)
    return None if advice is None else f"{uri!r} cannot be registered; {advice}"


def _advice_on_text(uri: str) -> str | None:
    """Returns what to change in the characters of an address, or None."""
    if not (uri.isascii() and uri.isprintable()) or " " in uri:
        return "percent-encode its spaces and letters beyond ASCII, and write its host as xn--"
    return "leave out the fragment, where tokens are returned" if "#" in uri else None


def _advice_on_scheme(parts: SplitResult) -> str | None:
    """Returns what to change in a scheme, or None."""
    scheme = parts.scheme
    if not scheme:
        return "give an absolute address, such as http://127.0.0.1:3000/callback"
    if scheme in _REFUSED_SCHEMES:
        return f"give an http or https address: browsers do not redirect to {scheme}:"
    is_reversed_domain = "." in scheme
    is_known = scheme in _WEB_SCHEMES or is_reversed_domain
    return None if is_known else "name an app's own scheme like com.example.app"


def _advice_on_host(parts: SplitResult) -> str | None:
    """Returns what to change in the part of an address between its scheme and its path, or None."""
    host = parts.hostname
    if "@" in parts.netloc:
        return "leave out the user name and the password"
    if host is None:
        return "name its host" if parts.scheme in _WEB_SCHEMES else None
    return None if _HOST.fullmatch(host) else f"{host!r} is not a host name or an IP address"
