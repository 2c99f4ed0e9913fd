"""Generates JSON Schemas of msgspec records, with which editors complete and check files.

Everything comes from the records, descriptions included, so that the schemas accept the same files as
the program does.
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
        kind: Type of a msgspec record, or ``list[Record]``.
        title: Title of the schema.
    """
    (schema,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **schema,
        "$defs": {name: _described(definition) for name, definition in definitions.items()},
    }


def schema_text(schema: Mapping[str, Any]) -> str:
    """Returns the text of a schema's file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _described(definition: dict[str, Any]) -> dict[str, Any]:
    """Returns a definition with descriptions of the record and its members, from its docstring."""
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
