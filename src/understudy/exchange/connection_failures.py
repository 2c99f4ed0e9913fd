"""Explains why a request got no response: the cause behind the client's error, and the remedy."""

import socket
import ssl
from urllib.parse import urlsplit

import httpx

_OTHER_PROTOCOL = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL")
"""Reasons that OpenSSL gives if the server responds without TLS."""


def failure_in_words(error: httpx.HTTPError, url: str) -> str:
    """Returns the reason why a request got no response, as a sentence."""
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
    """Returns an error and all its causes, as httpx hides the socket's error behind its own."""
    found: set[BaseException] = set()
    left: list[BaseException | None] = [error]
    while left:
        cause = left.pop()
        if cause is not None and cause not in found:  # causes can refer to one another
            found.add(cause)
            left += (cause.__cause__, cause.__context__, *getattr(cause, "exceptions", ()))
    return found
