"""The pages on the OpenAPI documents: every operation, then every schema."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.tools.docs.markdown import code, page, prose, table

from understudy.openapi.bundled import openapi_directory
from understudy.openapi.yaml_files import read_yaml

METHODS = ("get", "put", "post", "patch", "delete", "head", "options")

Node = Mapping[str, Any]


def resource_api() -> str:
    """Returns the page on the resource API."""
    return _page("Resource API", "service.yaml")


def authorization_server() -> str:
    """Returns the page on the authorization server."""
    return _page("Authorization server", "authorization.yaml")


def admin_api() -> str:
    """Returns the page on the mock's own API."""
    return _page("Admin API", "admin.yaml")


def user_info() -> str:
    """Returns the page on the address that tells clients who signed in."""
    return _page("User information", "user-info.yaml")


def web() -> str:
    """Returns the page on the addresses that responses link to."""
    return _page("Linked pages and pictures", "web.yaml")


def _page(title: str, name: str) -> str:
    document = read_yaml(openapi_directory() / name)
    operations = [
        (method, path, {**operation, "parameters": _joined(item, operation)})
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    ]
    heads = ("request", "what it does")
    parts = [
        prose(document["info"].get("description", "")),
        f"This page is made from `openapi/{name}`. Addresses begin with"
        f" {' or '.join(code(server['url']) for server in document.get('servers', ()))}.",
        table(heads, ((_link(*it), prose(it[2].get("summary", ""))) for it in operations)),
    ]
    parts.append("## Operations")
    for method, path, operation in operations:
        parts += _operation(document, method, path, operation)
    schemas = document.get("components", {}).get("schemas", {})
    if schemas:
        parts.append("## Schemas")
    for schema, node in schemas.items():
        parts += _schema(schema, node)
    return page(title, *parts)


def _link(method: str, path: str, operation: Node) -> str:
    return f"[`{method.upper()} {path}`](#{operation['operationId'].lower()})"


def _joined(item: Node, operation: Node) -> list[Node]:
    return [*item.get("parameters", ()), *operation.get("parameters", ())]


def _operation(document: Node, method: str, path: str, operation: Node) -> Iterator[str]:
    yield f"### {operation['operationId']}"
    yield f"`{method.upper()} {path}`: {prose(operation.get('summary', ''))}"
    yield prose(operation.get("description", ""))
    yield table(
        ("parameter", "in", "type", "meaning"),
        (_parameter(_resolved(document, it)) for it in operation["parameters"]),
    )
    body = _resolved(document, operation.get("requestBody", {}))
    for media_type, content in body.get("content", {}).items():
        yield f"Request body, `{media_type}`: {_type(content.get('schema', {}))}."
        if "example" in content:
            yield f"```json\n{json.dumps(content['example'], ensure_ascii=False, indent=2)}\n```"
    yield table(
        ("status", "body", "meaning"),
        (
            _response(status, _resolved(document, it))
            for status, it in operation["responses"].items()
        ),
    )


def _parameter(parameter: Node) -> tuple[str, str, str, str]:
    name = code(parameter["name"]) + (" (required)" if parameter.get("required") else "")
    schema = parameter.get("schema", {})
    return name, parameter["in"], _type(schema), prose(parameter.get("description", ""))


def _response(status: str, response: Node) -> tuple[str, str, str]:
    bodies = [
        f"{code(media_type)} {_type(content.get('schema', {}))}"
        for media_type, content in response.get("content", {}).items()
    ]
    return code(status), ", ".join(bodies), prose(response.get("description", ""))


def _schema(name: str, schema: Node) -> Iterator[str]:
    yield f"### {name}"
    yield prose(schema.get("description", ""))
    required = set(schema.get("required", ()))
    members = schema.get("properties")
    if members is None:
        yield f"{_type(schema)}."
        return
    rows = (
        (
            code(member) + (" (required)" if member in required else ""),
            _type(node),
            prose(node.get("description", "")),
        )
        for member, node in members.items()
    )
    yield table(("member", "type", "meaning"), rows)


def _type(schema: Node) -> str:
    """Returns what a person would call a schema's type."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for word in ("allOf", "oneOf", "anyOf"):
        if word in schema:
            return (" and " if word == "allOf" else " or ").join(map(_type, schema[word]))
    if "enum" in schema:
        return " or ".join(code(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    kind = str(schema.get("type", "any"))
    bounds = [f"{word} {code(schema[word])}" for word in _BOUNDS if word in schema]
    return ", ".join([kind, *bounds])


_BOUNDS = ("format", "default", "minimum", "maximum", "minLength", "maxLength", "pattern")


def _resolved(document: Node, node: Node) -> Node:
    """Returns what a reference inside of the document leads to."""
    reference = node.get("$ref")
    if reference is None:
        return node
    found: Any = document
    for step in reference.removeprefix("#/").split("/"):
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return _resolved(document, found)
