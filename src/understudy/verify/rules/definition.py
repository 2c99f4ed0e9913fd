"""The published definition (interface, Versioning)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from understudy.deployments.exchange import Exchange, split
from understudy.interface.operations import DOCUMENT, LOOKUP, RESOURCE, key_of
from understudy.verify.checks import CheckResult, check, expect
from understudy.verify.history import History

_SEMANTIC: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
OURS: Final = "3.0.0"  # interface, Versioning, 1


def _version(exchange: Exchange) -> str:
    info = exchange.json_object.get("info")
    return str(info.get("version")) if isinstance(info, dict) else ""


@check("semantic-version", on=[DOCUMENT])
def _semantic(exchange: Exchange, history: History) -> CheckResult | None:
    if not exchange.response.is_success:
        return None
    version = _version(exchange)
    is_right = _SEMANTIC.fullmatch(version) and (version == OURS or not history.target.ours)
    return expect(is_right, f"a semantic version, such as {OURS}", version)


@check("base-address-major", on=[DOCUMENT])
def _major(exchange: Exchange, history: History) -> CheckResult | None:
    if not exchange.response.is_success:
        return None
    major = _version(exchange).partition(".")[0]
    servers = [
        s.get("url", "") for s in exchange.json_object.get("servers") or [] if isinstance(s, dict)
    ]
    ends = [split(url).path.rstrip("/").rpartition("/")[2] for url in servers]
    ends += [split(history.target.base_url).path.rstrip("/").rpartition("/")[2]]
    return expect(set(ends) == {f"v{major}"}, f"addresses that end in /v{major}", ends)


@check("published-document", on=[DOCUMENT])
def _published(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.request.method != "GET" or exchange.request.header("accept") not in {"", "*/*"}:
        return None
    paths = exchange.json_object.get("paths")
    found = {
        key_of(method.upper(), path)
        for path, item in (paths if isinstance(paths, dict) else {}).items()
        for method in (item if isinstance(item, dict) else {})
    }
    wanted = set(RESOURCE) - {DOCUMENT} if history.target.ours else {LOOKUP}
    is_openapi = str(exchange.json_object.get("openapi", "")).startswith("3.")
    actual = f"status {exchange.status}, lacking {sorted(wanted - found)}"
    is_right = exchange.response.is_success and is_openapi and wanted <= found
    return expect(is_right, "an OpenAPI document with the operations", actual)


@check("unknown-response-members", on=[DOCUMENT])
def _open(exchange: Exchange, _history: History) -> CheckResult | None:
    if not exchange.response.is_success:
        return None
    components = exchange.json_object.get("components")
    schemas = components.get("schemas") if isinstance(components, dict) else None
    named = _answered(exchange.json_object)
    closed = sorted(n for n, schema in (schemas or {}).items() if n in named and _is_closed(schema))
    return (
        expect(not closed, "schemas of answers that take more members", closed) if schemas else None
    )


def _answered(document: Mapping[str, Any]) -> set[str]:
    """Returns the names of the schemas that answers refer to, at any depth."""
    pending = [part["responses"] for part in _parts(document) if "responses" in part]
    found: set[str] = set()
    while pending:
        for part in _parts(pending.pop()):
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.add(name)
                components = document.get("components", {})
                pending += [kind[name] for kind in components.values() if name in kind]
    return found


def _is_closed(schema: Any) -> bool:
    return any(part.get("additionalProperties") is False for part in _parts(schema))


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _parts(member)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)
