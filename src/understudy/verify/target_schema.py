"""Describes target files as a JSON Schema, by which editors complete and check them."""

from typing import Any, Final

from understudy.record_schemas import record_schema
from understudy.verify.target import Target

SCHEMA_NAME: Final = "target.schema.json"
"""Name of the file with the schema, beside a target file."""


def target_schema() -> dict[str, Any]:
    """Returns the JSON Schema (2020-12) of target files; TOML has no null."""
    schema = record_schema(Target, "A target file of understudy verify")
    del schema["$defs"]["Target"]["properties"]["variables"]  # no key of the file
    for definition in schema["$defs"].values():
        members = definition["properties"]
        definition["properties"] = {name: _without_null(members[name]) for name in members}
    return schema


def _without_null(member: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" not in member:
        return member
    (kind,) = (each for each in member["anyOf"] if each != {"type": "null"})
    return {**{name: member[name] for name in member if name not in {"anyOf", "default"}}, **kind}
