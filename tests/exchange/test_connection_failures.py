"""Why a request got no response is said in words."""

import socket
import ssl

import httpx
import pytest

from understudy.exchange.connection_failures import failure_in_words

URL = "https://staging.example:8443/v3"


def caused(error: httpx.HTTPError, cause: BaseException) -> httpx.HTTPError:
    """Returns an error with its cause, each of which refers to the other, as httpx leaves them."""
    error.__cause__, cause.__context__ = cause, error
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            caused(httpx.ConnectError("x"), ConnectionRefusedError(111, "refused")),
            "Nothing listens at staging.example:8443. Is the deployment up?",
        ),
        (
            caused(httpx.ConnectError("x"), socket.gaierror(-2, "not known")),
            "The host name staging.example is unknown here. Check base_url, DNS or VPN.",
        ),
        (
            httpx.ConnectError("[SSL: WRONG_VERSION_NUMBER] wrong version number"),
            'staging.example:8443 speaks http, not https; write base_url = "http://…".',
        ),
        (
            caused(httpx.ConnectError("expired"), ssl.SSLCertVerificationError("expired")),
            "The certificate of staging.example:8443 is not trusted here (expired).",
        ),
        (httpx.ReadTimeout(""), "staging.example:8443 gave no response (ReadTimeout)."),
    ],
    ids=["refused", "unknown host", "http", "certificate", "timeout"],
)
def test_a_failure_names_its_cause_and_the_remedy(error: httpx.HTTPError, words: str):
    assert failure_in_words(error, URL).startswith(words)
