"""Says in words why a request got no response: the cause below the client's error, and the remedy."""

import socket
import ssl
from urllib.parse import urlsplit

import httpx

_OTHER_PROTOCOL = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL")
"""Words of OpenSSL for a server that responds in plain text."""


def failure_in_words(error: httpx.HTTPError, url: str) -> str:
    """Returns why a request was not answered, as a sentence.

    Args:
        error: The client's error.
        url: The URL that was asked.
    """
    parts = urlsplit(url)
    address = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    kinds = {type(cause) for cause in causes(error)}
    what = f"{type(error).__name__}: {error}".removesuffix(": ")
    reasons = {
        socket.gaierror: f"The host name {parts.hostname} is unknown here. Check base_url, DNS or VPN.",
        ConnectionRefusedError: f"Nothing listens at {address}. Is the deployment up?",
        ssl.SSLCertVerificationError: f"The certificate of {address} is not trusted here ({error}). "
        "Name the file of its authority in SSL_CERT_FILE.",
    }
    for kind, text in reasons.items():
        if kind in kinds:
            return text
    if any(word in str(error) for word in _OTHER_PROTOCOL):
        return f'{address} speaks http, not https; write base_url = "http://…".'
    if isinstance(error, httpx.ConnectError):
        return f"{address} cannot be reached ({what})."
    return f"{address} gave no response ({what})."


def causes(error: BaseException) -> set[BaseException]:
    """Returns an error and what it came from; httpx hides the socket's error below its own."""
    found: set[BaseException] = set()
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop()
        if each is not None and each not in found:  # they refer to one another
            found.add(each)
            left += (each.__cause__, each.__context__, *getattr(each, "exceptions", ()))
    return found
