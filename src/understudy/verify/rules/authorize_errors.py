"""The form of an error on a redirect of the authorization server (RFC 6749, 4.1.2.1, 4.2.2.1)."""

import re
from typing import Final
from urllib.parse import parse_qs

from understudy.exchange.messages import Exchange
from understudy.verify.checks import CheckResult, check, expect
from understudy.verify.grant_history import answers_request, is_redirect, redirect_has, request_of
from understudy.verify.history import History
from understudy.verify.value_texts import as_json

REGISTERED: Final = frozenset(
    {
        *("invalid_request", "unauthorized_client", "access_denied", "unsupported_response_type"),
        *("invalid_scope", "server_error", "temporarily_unavailable"),  # RFC 6749, 4.1.2.1
        *("interaction_required", "login_required", "account_selection_required"),
        *("consent_required", "invalid_request_uri", "invalid_request_object"),
        *("request_not_supported", "request_uri_not_supported", "registration_not_supported"),
        "invalid_target",  # RFC 8707, 2
    }
)
"""Codes of the register of OAuth parameters for errors of the authorization endpoint."""

PARTS: Final = {"code": "query", "token": "fragment"}
"""The part of the redirect that holds the response to each response type, and so its error."""

_UNDESCRIBABLE: Final = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")


_WITH_ERROR = (is_redirect, answers_request, redirect_has("error"))


@check("authorize-error-form", when=_WITH_ERROR)
def error_code_is_registered(exchange: Exchange, _history: History) -> CheckResult:
    """An error has a registered code."""
    error = exchange.redirect_parameters.get("error")
    return expect(error in REGISTERED, "a code that RFC 6749 or an extension registers", error)


@check("authorize-error-form", when=_WITH_ERROR)
def error_stands_where_the_response_would(exchange: Exchange, history: History) -> CheckResult:
    """An error stands in the query for ``code``, and in the fragment for ``token``."""
    pairs = request_of(exchange, history).request.pairs
    types = [text for name, text in pairs if name == "response_type"]
    part = PARTS.get(types[0]) if len(types) == 1 else None
    location = exchange.location
    parts = {"query": location.query, "fragment": location.fragment}
    places = [name for name, text in parts.items() if "error" in parse_qs(text)]
    is_right = part is None or places == [part]
    return expect(is_right, f"error in the {part}", f"error in the {' and the '.join(places)}")


@check("authorize-error-form", when=[*_WITH_ERROR, redirect_has("error_description")])
def error_is_described_in_ascii(exchange: Exchange, _history: History) -> CheckResult:
    """A description has printable ASCII without quotation marks and backslashes."""
    description = exchange.redirect_parameters["error_description"]
    wrong = sorted(set(_UNDESCRIBABLE.findall(description)))
    return expect(not wrong, 'printable ASCII without " and \\', as_json(wrong))
