"""Documents that ask for much: each is small to write, and was once long or large to serve."""

import json
from typing import Any

REFERENCE = "#/components/schemas/"
IDENTIFIER = "3f2b6c1e-0000-4000-8000-000000000000"


def document(paths: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Returns a document as JSON."""
    info = {"title": "Hostile", "version": "1"}
    components = {"schemas": schemas}
    return json.dumps({"openapi": "3.0.3", "info": info, "paths": paths, "components": components})


def responding(schema: Any) -> dict[str, Any]:
    """Returns an operation that responds with a schema."""
    content = {"application/json": {"schema": schema}}
    return {"responses": {"200": {"description": "ok", "content": content}}}


def referring(name: str) -> dict[str, str]:
    """Returns a reference to a schema."""
    return {"$ref": f"{REFERENCE}{name}"}


def circles(operations: int = 600, schemas: int = 1200) -> str:
    """Returns a document whose schemas refer to one another in circles."""

    def thing(number: int) -> dict[str, Any]:
        members: dict[str, Any] = {
            "id": {"type": "string", "format": "uuid"},
            "kind": {
                "anyOf": [{"type": "string"}, referring(f"Thing{(number * 7 + 5) % schemas}")]
            },
        }
        for place, step in enumerate((1, 7, 31, 113, 401, 811)):
            other = referring(f"Thing{(number * 3 + step) % schemas}")
            members[f"link{place}"] = referring(f"Thing{(number + step) % schemas}")
            members[f"list{place}"] = {"type": "array", "items": other}
            members[f"text{place}"] = {"type": "string", "description": "What it says. " * 10}
        return {"type": "object", "required": ["id"], "properties": members}

    paths = {}
    for number in range(operations):
        reference = referring(f"Thing{number * 2 % schemas}")
        operation = responding(reference)
        if number % 2:
            operation["requestBody"] = {"content": {"application/json": {"schema": reference}}}
        paths[f"/things{number}"] = {"post" if number % 2 else "get": operation}
    return document(paths, {f"Thing{number}": thing(number) for number in range(schemas)})


def alternatives(schemas: int = 20) -> str:
    """Returns a document of schemas that are each one of all others."""
    names = [f"S{number}" for number in range(schemas)]
    parts = {
        name: {
            "type": "object",
            "required": names,
            "properties": {it: {"oneOf": [*map(referring, names)]} for it in names},
        }
        for name in names
    }
    return document({"/s": {"get": responding(referring("S0"))}}, parts)


def levels(count: int = 40) -> str:
    """Returns a document of objects in objects, each level with alternatives."""
    parts: dict[str, Any] = {
        f"L{number}": {
            "oneOf": [
                {
                    "type": "object",
                    "required": ["a", "b"],
                    "properties": {
                        "a": referring(f"L{number + 1}"),
                        "b": referring(f"L{number + 1}"),
                    },
                },
                {
                    "type": "object",
                    "required": ["c"],
                    "properties": {"c": referring(f"L{number + 1}")},
                },
            ]
        }
        for number in range(count)
    }
    return document(
        {"/s": {"get": responding(referring("L0"))}}, {**parts, f"L{count}": {"type": "integer"}}
    )


def itself() -> str:
    """Returns a document of a schema that four alternatives of its items refer back to."""
    list_ = {"type": "array", "items": referring("A")}
    empty = {"allOf": [referring("A"), {"maxItems": 0}]}
    items = {"anyOf": [list_, empty, referring("A"), referring("A")]}
    body = {"content": {"application/json": {"schema": referring("A")}}}
    operation = {**responding({"type": "string"}), "requestBody": body}
    return document({"/s": {"post": operation}}, {"A": {"type": "array", "items": items}})


def dashes(parameters: int = 31) -> str:
    """Returns a document with a path of many parameters in one segment."""
    path = "/a/" + "-".join(f"{{y{number}}}" for number in range(parameters))
    return document({path: {"get": responding({"type": "string"})}}, {})


def many_paths(count: int = 20_000) -> str:
    """Returns a document of many paths."""
    paths = {
        f"/group{n // 100}/thing{n}/{{id}}": {"get": responding({"type": "string"})}
        for n in range(count)
    }
    return document(paths, {})
