"""Reads the query in the key of a path, such as ``/items?kind=new``, as parameters.

OpenAPI has no such keys (3.0.3, Paths Object), but documents of services that choose an operation by
the query do. The parameter that is added has one value, by which the operation differs from others of
the same path and method. A fragment, ``/#Action=List``, only keeps keys apart.
"""

import re
from typing import Any
from urllib.parse import parse_qsl

_END = re.compile("[?#]")
_NAME = re.compile(r"\{([^{}]*)\}")


def path_of(key: str) -> str:
    """Returns the path template of a key of ``paths``, without a query and a fragment."""
    return _END.split(key, maxsplit=1)[0] or "/"


def declare_path_queries(raw: dict[str, Any]) -> None:
    """Adds a parameter for each query that the key of a path has, in place."""
    paths = raw.get("paths")
    for key, item in paths.items() if isinstance(paths, dict) else ():
        query = str(key).partition("?")[2].partition("#")[0]
        if not query or not isinstance(item, dict):
            continue
        pairs = parse_qsl(query, keep_blank_values=True)
        declared = item.get("parameters")
        listed = declared if isinstance(declared, list) else []
        item["parameters"] = [*(_parameter(*pair) for pair in pairs), *listed]


def _parameter(name: str, value: str) -> dict[str, Any]:
    """Returns the parameter of a pair; a value in braces stands for any."""
    schema = {"type": "string"}
    if not _NAME.fullmatch(value):
        schema = {"type": "string", "enum": [value]}  # type: ignore[dict-item]  # a schema
    return {"name": name, "in": "query", "required": True, "schema": schema}
