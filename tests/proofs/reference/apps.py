"""The two WSGI applications: the resource API with its pages, and the authorization server."""

from http import HTTPStatus
from pathlib import Path

import yaml
from flask import Flask, Response, g, request
from flask.typing import ResponseReturnValue
from tests.proofs.reference import bearer
from tests.proofs.reference.authorization import authorization
from tests.proofs.reference.avatars import avatars, pictures
from tests.proofs.reference.profiles import pages, profiles
from tests.proofs.reference.qr import qr
from tests.proofs.reference.records import AccessToken
from tests.proofs.reference.refusals import Refused, as_error, as_oauth_error, framework_error
from tests.proofs.reference.service import EXTENSION, Service, chose, number, service
from tests.proofs.reference.tokens import tokens
from werkzeug.exceptions import HTTPException

DOCUMENT = Path(__file__).with_name("openapi.yaml")
LARGEST_BODY = 10 * 1024 * 1024
"""Bytes; the interface sets no limit."""
LARGEST_BODY_OF_CHOICE = LARGEST_BODY + 64 * 1024
"""Bytes of a body where the operator chose how many of them the file of an upload may have."""
LIMITS = "rate-limits"
QR_CODE = "qr.qr_code"
COUNTED = {
    QR_CODE,
    "profiles.lookup",
    "profiles.own",
    "profiles.edit",
    "profiles.associated_email",
}
"""What the rate limits are for (interface, Limits): all but the avatar operations."""


REFUSED = {"$ref": "#/components/responses/Refused"}
AVATAR = "/me/avatars/{imageHash}"
ASSIGNMENT = "/me/avatars/{imageId}/email"
STATUSES = {
    ("avatar-upload-status", "200"): ("/me/avatars", "post", "201", "200"),
    ("avatar-delete-status", "200"): (AVATAR, "delete", "204", "200"),
    ("avatar-email-status", "200"): (ASSIGNMENT, "post", "204", "200"),
    ("qr-unknown-hash", "404"): ("/qr-code/{sha256_hash}", "get", "500", "404"),
}
"""Choices, each with path, method, a status of the document, and the one that is declared like it."""


def resource_app(shared: Service) -> Flask:
    """Makes the resource API and the pages and pictures that its answers lead to."""
    app = _made(shared)
    app.register_error_handler(Refused, as_error)
    app.before_request(_begin)
    app.after_request(_finish)
    for blueprint in (profiles, qr, avatars, pictures, pages):
        app.register_blueprint(blueprint)
    app.get("/v3/openapi")(_document)
    return app


def authorization_app(shared: Service) -> Flask:
    """Makes the authorization server."""
    app = _made(shared)
    app.register_error_handler(Refused, as_oauth_error)
    for blueprint in (authorization, tokens):
        app.register_blueprint(blueprint)
    return app


def _made(shared: Service) -> Flask:
    app = Flask(__name__, static_folder=None)
    app.extensions[EXTENSION] = shared
    is_chosen = "upload-largest" in shared.options.choices
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY_OF_CHOICE if is_chosen else LARGEST_BODY
    app.register_error_handler(HTTPException, framework_error)
    return app


def _document() -> ResponseReturnValue:
    document = yaml.safe_load(DOCUMENT.read_text())
    for (switch, option), (path, method, old, new) in STATUSES.items():
        if chose(switch, option):
            responses = document["paths"][path][method]["responses"]
            responses[new] = responses[old]
    for operation in (each for item in document["paths"].values() for each in item.values()):
        if "responses" in operation:
            chosen = dict.fromkeys(_chosen_error_statuses(), REFUSED)
            operation["responses"] = {**chosen, **operation["responses"]}
    drawing = document["paths"]["/qr-code/{sha256_hash}"]["get"]["parameters"]
    size = next(parameter for parameter in drawing if parameter["name"] == "size")
    size["schema"]["minimum"] = number("qr-smallest-size", size["schema"]["minimum"])
    size["schema"]["maximum"] = number("qr-largest-size", size["schema"]["maximum"])
    return {**document, "servers": [{"url": service().addresses.base_url}]}


def _chosen_error_statuses() -> set[str]:
    """Returns the statuses that the operator gave to refusals."""
    choices = service().options.choices
    return {text[:3] for name, text in choices.items() if name.endswith("-error")}


def _begin() -> ResponseReturnValue | None:
    """Counts the request before it is looked at any closer."""
    g.allowance = None
    bearer.remember()
    is_counted = request.endpoint in COUNTED and request.method != "OPTIONS"
    if not is_counted or chose(LIMITS, "off"):
        return None
    options, now = service().options, service().clock()
    caller, limit = f"address {request.remote_addr}", options.anonymous_limit
    credential = bearer.credential()
    # QR codes know no credentials (interface, Bearer tokens, 4)
    if credential is not None and request.endpoint != QR_CODE:
        kind = "token" if isinstance(credential, AccessToken) else "key"
        caller, limit = f"{kind} {credential.value}", options.token_limit
    by_clock = chose("rate-limit-window", "clock-hour")
    g.allowance = service().limits.count(caller, limit, now, by_clock=by_clock)
    if not g.allowance.is_exceeded or chose(LIMITS, "warn"):
        return None
    message = f"More than {limit} requests in an hour; see Retry-After."
    too_many = HTTPStatus.TOO_MANY_REQUESTS
    return as_error(Refused(too_many, "rate_limit_exceeded", message, switch="rate-limit-error"))


def _finish(response: Response) -> Response:
    if g.allowance is not None:
        names = service().options.choices.get("rate-limit-header-names", "X-RateLimit")
        response.headers.update(g.allowance.headers(service().clock(), names))
    # pages with a token of the implicit grant call from their own origin
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Access-Control-Expose-Headers"] = (
        "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Location"
    )
    if request.method == "OPTIONS":
        response.headers["Access-Control-Allow-Methods"] = response.headers.get("Allow", "")
        response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
    return response
