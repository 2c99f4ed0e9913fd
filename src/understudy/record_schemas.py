"""Describes msgspec records as JSON Schemas, by which editors complete and check files.

The schemas are made from the records, descriptions included, so that they cannot differ from what
the readers of the files accept.
"""

import inspect
import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

_ATTRIBUTE = re.compile(r"^    (\w+): ", re.MULTILINE)


def record_schema(kind: Any, title: str) -> dict[str, Any]:
    """Returns the JSON Schema (2020-12) of a record, or of a list of records.

    Args:
        kind: A msgspec record, or ``list[Record]``.
        title: The title of the schema.
    """
    (schema,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **schema,
        "$defs": {name: _described(definition) for name, definition in definitions.items()},
    }


def schema_text(schema: Mapping[str, Any]) -> str:
    """Returns a schema as the text of its file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _described(definition: dict[str, Any]) -> dict[str, Any]:
    """Splits the docstring of a record into its first paragraph and the texts of its members."""
    docstring = inspect.cleandoc(definition.get("description", ""))
    summary, _, rest = docstring.partition("\n\n")
    _, _, attributes = rest.rpartition("Attributes:\n")
    parts = _ATTRIBUTE.split(attributes)[1:]
    texts = dict(zip(parts[::2], map(_one_line, parts[1::2]), strict=True))
    described = {**definition, "description": _one_line(summary)}
    if "properties" in definition:
        described["properties"] = {
            name: {"description": texts[name], **member} if name in texts else member
            for name, member in definition["properties"].items()
        }
    return described


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")
