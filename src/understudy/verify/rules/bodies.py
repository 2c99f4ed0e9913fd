"""Bodies of responses: JSON, and errors in the interface's shape (interface, Errors)."""

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import QR_CODE, RESOURCE, TOKEN, TOKEN_INFO
from understudy.verify.checks import CheckResult, check, expect
from understudy.verify.history import History
from understudy.verify.shapes import fault
from understudy.verify.value_texts import as_json

ERRORS = 400
"""The least status of an error."""

PREVIEW = 80
"""Bytes of a body that a finding shows."""


def has_body(exchange: Exchange, _history: History) -> bool:
    """Tells whether the response has a body."""
    return bool(exchange.response.body) and exchange.request.method != "HEAD"


def is_error(exchange: Exchange, _history: History) -> bool:
    """Tells whether the status is an error."""
    return exchange.status >= ERRORS


def is_json_object(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body is a JSON object with members."""
    return bool(exchange.json_object)


def is_of_resource_api(exchange: Exchange, _history: History) -> bool:
    """Tells whether a request to the resource API names one of its operations, or none at all."""
    is_known = exchange.operation in {*RESOURCE, ""}
    return exchange.site == "resource" and is_known and exchange.request.method != "HEAD"


def _shown(exchange: Exchange) -> str:
    preview = exchange.response.body[:PREVIEW].decode(errors="replace")
    return f"{exchange.response.media_type}: {as_json(preview)}"


@check(
    "json-bodies",
    on=[name for name in (*RESOURCE, TOKEN, TOKEN_INFO) if name != QR_CODE],
    when=[has_body],
)
def body_is_json(exchange: Exchange, _history: History) -> CheckResult:
    """A body is JSON, and says so in its content type."""
    is_json = exchange.response.media_type == "application/json" and exchange.body is not NO_JSON
    return expect(is_json, "a body of JSON", _shown(exchange))


@check("error-members", on=RESOURCE, when=[is_error, is_json_object], is_shape=True)
def error_has_its_members(exchange: Exchange, _history: History) -> CheckResult:
    """An error has its message, and a code that is a text."""
    error = fault(exchange.body, "Error")
    return expect(not error, "error as a text, and code as one", error)


@check("error-shape", when=[is_of_resource_api, is_error], is_shape=True)
def error_is_json_with_a_message(exchange: Exchange, _history: History) -> CheckResult:
    """Whatever the resource API refuses, it says why under ``error`` in JSON."""
    message = exchange.json_object.get("error")
    is_right = isinstance(message, str) and exchange.response.media_type == "application/json"
    return expect(is_right, "JSON with a message under error", _shown(exchange))
