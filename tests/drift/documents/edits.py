"""Single changes of documents, with what they break: our own, and two of the corpus."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.house.documentation import ROOT

from understudy.openapi.loader import load

CORPUS: Final = ROOT / "tests" / "proofs" / "corpus" / "documents"
DOCUMENTS: Final = {
    "service": ROOT / "openapi" / "service.yaml",
    "orders": CORPUS / "50-everyday.yaml",
    "vehicles": CORPUS / "10-discriminator.yaml",
    "subscriptions": CORPUS / "39-callbacks-and-links.yaml",
}
SENDERS, READERS, BOTH, NO_CLIENT = {"senders"}, {"readers"}, {"senders", "readers"}, set[str]()

Change = Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a document.

    Attributes:
        title: What is changed, in a few words.
        document: Name of the document.
        path: The steps to what is changed.
        change: Changes it in place.
        kind: The kind of change that it is.
        breaks: The clients that it breaks.
        peer: The second opinion, ``breaking`` or ``harmless``, where it is not ours.
        why: The reason for ours.
    """

    title: str
    document: str
    path: tuple[str | int, ...]
    change: Change
    kind: str
    breaks: set[str]
    peer: str = ""
    why: str = ""

    def before(self) -> dict[str, Any]:
        """Returns the content of the document."""
        return content(self.document)

    def after(self) -> dict[str, Any]:
        """Returns the content of the changed document."""
        changed = deepcopy(self.before())
        part: Any = changed
        for step in self.path:
            part = part[step]
        self.change(part)
        return changed


@cache
def content(name: str) -> dict[str, Any]:
    """Returns the content of a document."""
    return load(Path(DOCUMENTS[name])).raw


def put(**members: Any) -> Change:
    """Returns what sets members of an object."""
    return lambda part: part.update(deepcopy(members))


def drop(*names: str | int) -> Change:
    """Returns what removes members of an object, or items of a list."""

    def change(part: Any) -> None:
        for name in names:
            del part[name]

    return change


def add(*items: Any) -> Change:
    """Returns what appends items to a list."""
    return lambda part: part.extend(deepcopy(items))


def copy(name: str, to: str) -> Change:
    """Returns what repeats a member under another name."""
    return lambda part: part.update({to: deepcopy(part[name])})


ORDERS = ("paths", "/orders")
QUERY = (*ORDERS, "get", "parameters")
PAGE = (*ORDERS, "get", "responses", "200")
PAGE_SCHEMA = (*PAGE, "content", "application/json", "schema")
ORDER = ("components", "schemas", "Order")
LINE = (*ORDER, "properties", "lines", "items")
QR = ("paths", "/qr-code/{sha256_hash}", "get")
PROFILE = ("components", "schemas", "Profile")
PATCHED = ("paths", "/me/profile", "patch", "requestBody", "content", "application/json", "schema")
UPLOAD = ("paths", "/me/avatars", "post")
LOOKUP = ("paths", "/profiles/{profileIdentifier}", "get")
VEHICLE = ("components", "schemas", "Vehicle")

NUMBER_IS_TEXT = (
    "The text of a query may be a number, but a client sends the type that it was given."
)
LOST_MEANING = "The body is taken as before, but what the client wants to change is not changed."
HEADER = "A client that reads a header that is always sent need not expect that it is not."
OTHER_VALUE = "A reader meets a value that the older document excludes."
FLOW = "The peer judges operations alone; a client that signs in so gets no token."
CHOICE = "A client that chooses a class by the member of before chooses none."
SCHEME = "No operation asks for it, and those that come to do so are compared themselves."
SERVERS = "The peer does not judge servers; a client that was given the address reaches nothing."
SENT = "The peer does not judge requests that the service sends; a client waits for them."
SCOPE = "A token with the scopes of before is refused."

SUBSCRIBED = ("paths", "/subscriptions", "post", "callbacks")
WEBHOOK = ("webhooks", "done", "post")
SCHEMES = ("components", "securitySchemes")
FLOWS = (*SCHEMES, "oauth2", "flows")
ELSEWHERE = "https://staging.example/v3"

TEXT = {"type": "string"}
TEXT_IN_QUERY = {"name": "sort", "in": "query", "schema": TEXT}

EDITS: Final = (
    # operations
    Edit("an operation is gone", "orders", ("paths", "/orders/{orderId}"), drop("delete"), "operation-removed", BOTH),
    Edit("a path is gone", "service", ("paths",), drop("/me/associated-email"), "operation-removed", BOTH),
    Edit("an operation is new", "orders", ("paths", "/orders/{orderId}"), copy("get", "put"), "operation-added", NO_CLIENT),
    Edit("a path is new", "orders", ("paths",), copy("/orders", "/baskets"), "operation-added", NO_CLIENT),
    Edit("an operation is deprecated", "service", QR, put(deprecated=True), "operation-deprecated", NO_CLIENT),
    # parameters
    Edit("a parameter is gone", "service", (*QR, "parameters"), drop(2), "parameter-removed", SENDERS),
    Edit("an optional parameter is new", "orders", QUERY, add(TEXT_IN_QUERY), "parameter-added", NO_CLIENT),
    Edit("a required parameter is new", "orders", QUERY, add({**TEXT_IN_QUERY, "required": True}), "parameter-added", SENDERS),
    Edit("a parameter is required", "service", (*QR, "parameters", 1), put(required=True), "parameter-required", SENDERS),
    Edit("a parameter is optional", "service", ("paths", "/me/associated-email", "get", "parameters", 0), put(required=False), "parameter-optional", NO_CLIENT),
    Edit("a parameter moves to a header", "service", (*QR, "parameters", 2), put(**{"in": "header"}), "parameter-moved", SENDERS),
    Edit("a parameter has one value less", "service", (*QR, "parameters", 5, "schema"), put(enum=["user", "none"]), "enum", SENDERS),
    Edit("a parameter has one value more", "service", (*QR, "parameters", 5, "schema"), put(enum=["user", "service", "none", "flag"]), "enum", NO_CLIENT),
    Edit("a parameter has a lower maximum", "service", (*QR, "parameters", 1, "schema"), put(maximum=1024), "bound", SENDERS),
    Edit("a parameter has a higher maximum", "service", (*QR, "parameters", 1, "schema"), put(maximum=4096), "bound", NO_CLIENT),
    Edit("a parameter has a higher minimum", "orders", (*QUERY, 1, "schema"), put(minimum=2), "bound", SENDERS),
    Edit("a parameter has no maximum", "service", (*QR, "parameters", 1, "schema"), drop("maximum"), "bound", NO_CLIENT),
    Edit("a parameter has another type", "orders", (*QUERY, 1, "schema"), put(type="string"), "type", SENDERS, "harmless", NUMBER_IS_TEXT),
    Edit("a parameter has another default", "service", (*QR, "parameters", 1, "schema"), put(default=96), "default", SENDERS),
    Edit("a parameter has a pattern", "service", (*QR, "parameters", 3, "schema"), put(pattern="^[a-z]+$"), "pattern", SENDERS),
    Edit("a parameter has a greatest length", "service", (*QR, "parameters", 3, "schema"), put(maxLength=20), "bound", SENDERS),
    Edit("a parameter is written otherwise", "service", (*QR, "parameters", 3), put(style="pipeDelimited"), "parameter-style", SENDERS),
    # request bodies
    Edit("a body may be left out", "service", ("paths", "/me/profile", "patch", "requestBody"), put(required=False), "request-body-optional", NO_CLIENT),
    Edit("a body is gone", "service", ("paths", "/me/profile", "patch"), drop("requestBody"), "request-body-removed", SENDERS),
    Edit("a media type of a body is gone", "service", (*UPLOAD, "requestBody", "content"), lambda part: part.update({"image/png": part.pop("multipart/form-data")}), "media-type-removed", SENDERS),
    Edit("a body has one media type more", "service", (*UPLOAD, "requestBody", "content"), copy("multipart/form-data", "application/xml"), "media-type-added", NO_CLIENT),
    Edit("a body has a required member more", "service", (*UPLOAD, "requestBody", "content", "multipart/form-data", "schema"), lambda part: (part["required"].append("rating"), part["properties"].update(rating=TEXT)), "member-added", SENDERS),
    Edit("a body has an optional member more", "service", (*UPLOAD, "requestBody", "content", "multipart/form-data", "schema", "properties"), put(rating=TEXT), "member-added", NO_CLIENT),
    Edit("a member of a body is gone", "service", (*PATCHED, "properties"), drop("location"), "member-removed", SENDERS, "harmless", LOST_MEANING),
    Edit("a member of a body has a greatest length", "service", (*PATCHED, "properties", "location"), put(maxLength=40), "bound", SENDERS),
    Edit("a body takes other members", "service", PATCHED, drop("additionalProperties"), "members-opened", NO_CLIENT),
    # responses
    Edit("a status is gone", "orders", (*ORDERS, "get", "responses"), drop("200"), "response-removed", READERS),
    Edit("a refusal is new", "orders", (*ORDERS, "get", "responses"), copy("400", "409"), "response-added", NO_CLIENT),
    Edit("a media type of a response is gone", "service", (*QR, "responses", "200", "content"), lambda part: part.update({"image/svg+xml": part.pop("image/png")}), "media-type-removed", READERS),
    Edit("a response has one media type more", "orders", (*PAGE, "content"), copy("application/json", "application/xml"), "media-type-added", NO_CLIENT),
    Edit("a member of a response is gone", "service", PROFILE, lambda part: (part["required"].remove("company"), part["properties"].pop("company")), "member-removed", READERS),
    Edit("a response has one member more", "service", (*PROFILE, "properties"), put(nickname=TEXT), "member-added", NO_CLIENT),
    Edit("a member of a response may be left out", "service", (*PROFILE, "required"), drop(5), "member-optional", READERS),
    Edit("a member of a response is always there", "service", (*PROFILE, "required"), add("timezone"), "member-required", NO_CLIENT),
    Edit("a member of a response has another type", "service", (*PROFILE, "properties"), put(location={"type": "object"}), "type", READERS,
        "harmless",
        OTHER_VALUE),
    Edit("a member of a response may be null", "service", (*PROFILE, "properties", "location"), put(nullable=True), "null", READERS,
        "harmless",
        OTHER_VALUE),
    Edit("a member of a response has one value more", "service", ("components", "schemas", "Rating", "enum"), add("NC"), "enum", READERS),
    Edit("a member of a response has another format", "service", (*PROFILE, "properties", "profile_url"), put(format="uri-reference"), "format", READERS,
        "harmless",
        OTHER_VALUE),
    Edit("a response may have a header more", "service", (*QR, "responses", "200", "headers"), put(**{"X-Style": {"schema": TEXT}}), "header-added", NO_CLIENT),
    Edit("a header of a response is gone", "orders", (*PAGE, "headers"), drop("X-Total"), "header-removed", READERS),
    Edit("a header may be left out", "orders", (*PAGE, "headers", "X-Total"), put(required=False), "header-optional", READERS, "harmless", HEADER),
    Edit("a list has a lower bound less", "orders", (*ORDER, "properties", "lines"), drop("minItems"), "bound", READERS),
    Edit("a number is higher", "orders", (*LINE, "properties", "quantity"), put(maximum=199), "bound", READERS),
    Edit("a response has one alternative more", "vehicles", (*VEHICLE, "oneOf"), add({"type": "object", "title": "Boat", "properties": {"sails": {"type": "integer"}}}), "alternative-added", READERS),
    Edit("one alternative is gone", "vehicles", (*VEHICLE, "oneOf"), drop(1), "alternative-removed", SENDERS),
    Edit("a price is a multiple of another number", "orders", (*LINE, "properties", "price"), put(multipleOf=0.05), "keyword", BOTH),
    Edit("another member tells alternatives apart", "vehicles", (*VEHICLE, "discriminator"), put(propertyName="type"), "discriminator", BOTH, "harmless", CHOICE),
    # security
    Edit("a credential is required", "service", QR, put(security=[{"oauth2": ["auth"]}]), "security-narrowed", SENDERS),
    Edit("no credential is required", "orders", (*ORDERS, "get"), put(security=[]), "security-widened", NO_CLIENT),
    Edit("one scope more is required", "service", ("paths", "/me/profile", "get", "security", 0, "oauth2"), add("avatar-profile:manage"), "security-narrowed", SENDERS, "harmless", SCOPE),
    Edit("one way to sign in less", "service", ("components", "securitySchemes", "oauth2", "flows"), drop("implicit"), "flow-removed", SENDERS, "harmless", FLOW),
    Edit("a credential is required where none was", "service", (*LOOKUP, "security"), drop(0), "security-narrowed", SENDERS),
    Edit("a security scheme is new", "service", SCHEMES, put(basic={"type": "http", "scheme": "basic"}), "scheme-added", NO_CLIENT, "breaking", SCHEME),
    Edit("tokens are issued at another address", "service", (*FLOWS, "password"), put(tokenUrl=f"{ELSEWHERE}/token"), "scheme-address", SENDERS, "harmless", FLOW),
    Edit("a scope is gone", "service", (*FLOWS, "password", "scopes"), drop("auth"), "scope-removed", SENDERS, "harmless", FLOW),
    # servers
    Edit("the service has another address", "service", ("servers", 0), put(url=ELSEWHERE), "server-removed", SENDERS, "harmless", SERVERS),
    Edit("the service has one address more", "service", ("servers",), add({"url": ELSEWHERE}), "server-added", NO_CLIENT),
    Edit("an operation has another address", "service", QR, put(servers=[{"url": ELSEWHERE}]), "server-removed", SENDERS, "harmless", SERVERS),
    # requests that the service sends
    Edit("a webhook is gone", "subscriptions", ("webhooks",), drop("done"), "webhook-removed", READERS, "harmless", SENT),
    Edit("a webhook is new", "subscriptions", ("webhooks",), copy("done", "begun"), "webhook-added", NO_CLIENT),
    Edit("the body of a webhook may be null", "subscriptions", (*WEBHOOK, "requestBody", "content", "application/json", "schema"), put(type=["object", "null"]), "null", READERS, "harmless", SENT),
    Edit("a webhook has a required parameter", "subscriptions", WEBHOOK, put(parameters=[{**TEXT_IN_QUERY, "required": True}]), "parameter-added", NO_CLIENT),
    Edit("a webhook takes another status", "subscriptions", (*WEBHOOK, "responses"), lambda part: part.update({"202": part.pop("200")}), "response-removed", SENDERS, "harmless", SENT),
    Edit("a callback is gone", "subscriptions", SUBSCRIBED, drop("event"), "callback-removed", READERS, "harmless", SENT),
    Edit("a callback is new", "subscriptions", SUBSCRIBED, copy("event", "end"), "callback-added", NO_CLIENT),
    Edit("a callback has another address", "subscriptions", (*SUBSCRIBED, "event"), lambda part: part.update({"{$request.query.url}": part.pop("{$request.body#/url}")}), "callback-address", SENDERS, "harmless", SENT),
)  # fmt: skip
