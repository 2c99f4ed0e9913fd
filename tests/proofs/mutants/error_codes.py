"""Mutants of error codes, made by hand: each kind of refusal is called otherwise."""

from functools import partial

import httpx
from tests.proofs.mutants.edge import MUTANTS, Change, Mutant, Send, answer, said

CODES = {
    "error-invalid-token": "invalid_token",
    "error-missing-scope": "insufficient_scope",
    "error-unknown-profile": "profile_not_found",
    "error-private-profile": "private_profile",
    "error-unknown-avatar": "avatar_not_found",
    "error-unknown-address": "unknown_email",
    "error-picture-type": "unsupported_image",
    "error-picture-shape": "uncropped_image",
    "error-upload-size": "image_too_large",
    "error-invalid-member": "invalid_body",
    "error-invalid-parameter": "invalid_parameter",
    "error-rate-limit": "rate_limit_exceeded",
}


def _renamed(code: str) -> Change:
    def change(request: httpx.Request, send: Send) -> httpx.Response:
        response = send(request)
        body = said(response)
        is_meant = isinstance(body, dict) and body.get("code") == code
        return answer(response, body={**body, "code": f"{code}_2"}) if is_meant else response

    return change


def _with_code(request: httpx.Request, send: Send) -> httpx.Response:
    response = send(request)
    is_anonymous = "authorization" not in request.headers
    body = said(response)
    if is_anonymous and response.status_code == 401 and isinstance(body, dict):
        return answer(response, body={**body, "code": "missing_token"})
    return response


MUTANTS += [
    Mutant(f"{code} is called otherwise", (rule,), partial(_renamed, code))
    for rule, code in CODES.items()
]
MUTANTS.append(Mutant("a missing token has a code", ("error-no-token",), lambda: _with_code))
