"""How a request is refused: one exception, told in the words of whichever application raised it.

The resource API answers by the interface's Error schema, with a sentence in ``error``; OAuth puts
the code there (RFC 6749, 5.2), which keeps the same schema.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import NoReturn

from flask import Response
from flask.typing import ResponseReturnValue
from tests.proofs.reference.service import service
from werkzeug.exceptions import HTTPException


class Refused(Exception):
    """A request is not answered as asked."""

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        switch: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})
        self.switch = switch


def refuse(message: str, code: str = "invalid_request", *, switch: str = "") -> NoReturn:
    """Refuses a request that its sender must mend.

    Args:
        message: What is wrong.
        code: The error code.
        switch: The switch by which the operator may choose another status and code.
    """
    raise Refused(HTTPStatus.BAD_REQUEST, code, message, switch=switch)


def refuse_missing(message: str, *, switch: str = "") -> NoReturn:
    """Refuses to answer for something that is not there."""
    raise Refused(HTTPStatus.NOT_FOUND, "not_found", message, switch=switch)


def as_error(refused: Refused) -> ResponseReturnValue:
    """Answers by the Error schema (interface, Errors), in the status and code of the operator."""
    status, code = _chosen(refused)
    body = {"error": refused.message, **({"code": code} if code else {})}
    return body, status, refused.headers


def as_oauth_error(refused: Refused) -> ResponseReturnValue:
    """Answers as RFC 6749, 5.2 has it, in the status and code of the operator."""
    status, code = _chosen(refused)
    return {"error": code, "error_description": refused.message}, status, refused.headers


def _chosen(refused: Refused) -> tuple[int, str]:
    chosen = service().options.choices.get(refused.switch, f"{refused.status:d} {refused.code}")
    status, _, code = chosen.partition(" ")
    return int(status), code


def framework_error(error: HTTPException) -> Response:
    """Gives the framework's own refusals (404, 405, 413, 415, 500) the Error schema's body.

    Their headers stay: 405 says which methods are allowed.
    """
    made = error.get_response()
    code = error.name.lower().replace(" ", "_")
    body = {"error": error.description or error.name, "code": code}
    made.headers.remove("Content-Type")
    made.headers.remove("Content-Length")
    return Response(json.dumps(body), made.status_code, made.headers, mimetype="application/json")
