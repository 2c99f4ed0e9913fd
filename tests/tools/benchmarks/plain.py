"""The service's document as every peer understands it.

``2XX`` and ``default`` become explicit statuses, a response's references are written out, and
credentials that may be left out are not mentioned: some peers know none of it, and none is to lose
for that.
"""

import json
from pathlib import Path
from typing import Any

import yaml


def plain_document(source: Path, target: Path) -> Path:
    """Writes the plain form as JSON and returns where."""
    document = yaml.safe_load(source.read_text())
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"] = _explicit(document, operation["responses"])
                if {} in operation.get("security", document.get("security", ())):
                    operation["security"] = []
    target.write_text(json.dumps(document, default=str))
    return target


def _explicit(document: dict[str, Any], responses: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for status, response in responses.items():
        written = _followed(document, response)
        written = {name: part for name, part in written.items() if name != "links"}
        success = "200" if written.get("content") else "204"
        found[{"2XX": success, "default": "400"}.get(status, status)] = written
    return {status: found[status] for status in sorted(found)}


def _followed(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return dict(node)
