"""The published definition (interface, Versioning)."""

import re
from collections.abc import Mapping
from typing import Any, Final

from understudy.exchange.messages import Exchange, split
from understudy.interface.operations import DOCUMENT, LOOKUP, RESOURCE, key_of
from understudy.openapi.operations import operations
from understudy.openapi.pointers import objects_in
from understudy.verify.checks import (
    CheckResult,
    accepts_anything,
    check,
    expect,
    is_get,
    succeeded,
    tells,
)
from understudy.verify.history import History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import probe
from understudy.verify.shapes import bundled

_SEMANTIC: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
OURS: Final = "3.0.0"  # interface, Versioning, 1


has_schemas = tells("the definition names schemas", lambda it, _: bool(_schemas(it)))


def _schemas(exchange: Exchange) -> Mapping[str, Any]:
    components = exchange.json_object.get("components")
    schemas = components.get("schemas") if isinstance(components, dict) else None
    return schemas if isinstance(schemas, dict) else {}


def _version(exchange: Exchange) -> str:
    info = exchange.json_object.get("info")
    return str(info.get("version")) if isinstance(info, dict) else ""


@check("semantic-version", on=[DOCUMENT], when=[succeeded])
def version_is_semantic(exchange: Exchange, history: History) -> CheckResult:
    """The version is a semantic version; the mock's is exactly that of the interface."""
    version = _version(exchange)
    is_right = _SEMANTIC.fullmatch(version) and (version == OURS or not history.target.is_mock)
    return expect(is_right, f"a semantic version, such as {OURS}", version)


@check("base-address-major", on=[DOCUMENT], when=[succeeded])
def base_address_ends_in_major_version(exchange: Exchange, history: History) -> CheckResult:
    """The base URL in use and the published server URLs end in the major version."""
    major = _version(exchange).partition(".")[0]
    listed = exchange.json_object.get("servers") or []
    servers = [server.get("url", "") for server in listed if isinstance(server, dict)]
    addresses = [*servers, history.target.base_url]
    ends = [split(url).path.rstrip("/").rpartition("/")[2] for url in addresses]
    return expect(set(ends) == {f"v{major}"}, f"addresses that end in /v{major}", ends)


@check("published-document", on=[DOCUMENT], when=[is_get, accepts_anything])
def definition_is_openapi(exchange: Exchange, history: History) -> CheckResult:
    """The definition is OpenAPI 3 and declares the lookup; the mock's declares every operation."""
    paths = exchange.json_object.get("paths")
    published = {
        key_of(method.upper(), path)
        for path, item in (paths if isinstance(paths, dict) else {}).items()
        for method in (item if isinstance(item, dict) else {})
    }
    wanted = set(RESOURCE) - {DOCUMENT} if history.target.is_mock else {LOOKUP}
    is_openapi = str(exchange.json_object.get("openapi", "")).startswith("3.")
    lacking = [
        f"{operation.method} {operation.path}"
        for operation in operations(bundled("service.yaml"))
        if key_of(operation.method, operation.path) in wanted - published
    ]
    actual = f"status {exchange.status}, lacking {' and '.join(lacking)}"
    is_right = exchange.response.is_success and is_openapi and wanted <= published
    return expect(is_right, "an OpenAPI document with the operations", actual)


@check("unknown-response-members", on=[DOCUMENT], when=[succeeded, has_schemas])
def schemas_of_responses_are_open(exchange: Exchange, _history: History) -> CheckResult:
    """No response schema forbids additional members, so that the service can add some later."""
    used = _used_by_responses(exchange.json_object)
    closed = [
        name
        for name, schema in _schemas(exchange).items()
        if name in used
        and any(it.get("additionalProperties") is False for it in objects_in(schema))
    ]
    return expect(not closed, "schemas of responses that take more members", sorted(closed))


def _used_by_responses(document: Mapping[str, Any]) -> set[str]:
    """Returns the names of the components that responses reference, directly or through others."""
    pending = [part["responses"] for part in objects_in(document) if "responses" in part]
    names: set[str] = set()
    while pending:
        for part in objects_in(pending.pop()):
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name and name not in names:
                names.add(name)
                components = document.get("components", {})
                pending += [kind[name] for kind in components.values() if name in kind]
    return names


@probe(
    "semantic-version",
    "base-address-major",
    "published-document",
    "unknown-response-members",
    "json-bodies",
)
def published_definition(client: ProbeClient) -> None:
    """Reads the published definition."""
    client.recall("/openapi")
