"""Mends operations after references are resolved: their parameters, ids, and missing parts."""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from understudy.openapi.diagnostics import Diagnostic, Mended, diagnostic
from understudy.openapi.grammar import METHODS, PATH_PARAMETER
from understudy.openapi.pointers import escape, value_at

# A query in a key of ``paths``, such as ``/items?kind=new``, is read as parameters. OpenAPI does not
# allow it (3.0.3, Paths Object), but documents of services that choose an operation by the query
# have it. The added parameter has one value, which distinguishes the operation from others with the
# same path and method. A fragment, ``/#Action=List``, only makes keys unique.

_END = re.compile("[?#]")
_NAME = re.compile(r"\{([^{}]*)\}")  # a placeholder as value of a query parameter


def path_of(key: str) -> str:
    """Returns the path template in a key of ``paths``, without query and fragment."""
    return _END.split(key, maxsplit=1)[0] or "/"


def declare_path_queries(raw: dict[str, Any]) -> None:
    """Adds a query parameter, in place, for each pair of a query in a key of ``paths``."""
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
    """Returns the parameter for a name and value of a query; a value in braces allows any value."""
    schema = {"type": "string"}
    if not _NAME.fullmatch(value):
        schema = {"type": "string", "enum": [value]}  # type: ignore[dict-item]  # a schema
    return {"name": name, "in": "query", "required": True, "schema": schema}


LOCATIONS = ("path", "query", "header", "cookie")


class _Found(NamedTuple):
    """An operation, and where it was found."""

    path: str
    path_item: dict[str, Any]
    holder: dict[str, Any]
    method: str
    pointer: str
    value: dict[str, Any]


def mend_operations(root: dict[str, Any], mended: Mended) -> None:
    """Mends the operations of a document in place, and adds to its diagnostics.

    Args:
        root: The document, in which all references can be resolved.
        mended: The results of the walk over the document.
    """
    mends = _OperationMends(root, mended)
    for operation in mends.operations():
        mends.mend(operation)


class _OperationMends:
    """Mends the operations of one document."""

    def __init__(self, root: dict[str, Any], mended: Mended) -> None:
        self._root = root
        self._mended = mended
        self._ids: dict[str, str] = {}
        self._seen: set[str] = set()

    def operations(self) -> Iterator[_Found]:
        """Yields the operations of all paths; an operation that several paths share comes once."""
        for path, entry in self._root.get("paths", {}).items():
            if path.startswith("x-"):
                continue
            pointer, item = self._followed(f"#/paths/{escape(path)}", entry)
            additional = f"{pointer}/additionalOperations", item.get("additionalOperations", {})
            for at, holder, methods in ((pointer, item, METHODS), (*additional, additional[1])):
                for method in list(methods):
                    operation = f"{at}/{method}"
                    if method in holder and operation not in self._seen:
                        self._seen.add(operation)
                        if "$ref" in holder[method]:  # copied, as each path may mend it differently
                            _, target = self._followed(operation, holder[method])
                            holder[method] = deepcopy(target)
                        yield _Found(path, item, holder, method, operation, holder[method])

    def mend(self, found: _Found) -> None:
        """Mends the parameters and the id of one operation, or makes it answer 501."""
        named = PATH_PARAMETER.findall(path_of(found.path))
        shared = f"{_path_item_of(found.pointer)}/parameters"
        declared = self._parameters(found.path_item, shared, named, found.path)
        reason = self._mended.why_broken(found.pointer)
        if reason is not None:
            found.holder[found.method] = _unusable(found.value, reason, found.path)
            self._note("unusable-operation", found.pointer, f"answers 501, as {reason}.")
            return
        self._name(found)
        own = f"{found.pointer}/parameters"
        declared |= self._parameters(found.value, own, named, found.path)
        for name in named:
            if name not in declared:
                self._declare(found, name)

    def _name(self, found: _Found) -> None:
        name = found.value.get("operationId")
        if name is None:
            return
        first = self._ids.setdefault(name, found.pointer)
        if first != found.pointer:
            number = next(n for n in range(2, len(self._ids) + 3) if f"{name}_{n}" not in self._ids)
            found.value["operationId"] = f"{name}_{number}"
            self._ids[f"{name}_{number}"] = found.pointer
            message = f"operationId {name!r} is {first}'s too; read as '{name}_{number}'."
            self._note("duplicate-operation-id", f"{found.pointer}/operationId", message)

    def _parameters(
        self, owner: dict[str, Any], pointer: str, named: list[str], path: str
    ) -> set[str]:
        """Removes invalid and repeated parameters; returns the names of the path parameters."""
        if "parameters" not in owner:
            return set()
        kept: dict[tuple[str, str], Any] = {}
        for number, entry in enumerate(owner["parameters"]):
            at = f"{pointer}/{number}"
            _, parameter = self._followed(at, entry)
            name, location = parameter.get("name"), parameter.get("in")
            wrong = _why_invalid(name, location) or (
                ("unused-path-parameter", f"{name!r} is not in the path {path!r}")
                if location == "path" and name not in named
                else None
            )
            if wrong:
                # an empty object is what is left of a dangling reference, which was noted before
                if parameter or all(it.pointer != at for it in self._mended.diagnostics):
                    self._note(wrong[0], at, f"{wrong[1]}; it is left out.")
                continue
            if (location, name) in kept:
                message = f"the {location} parameter {name!r} is listed twice; the last one counts."
                self._note("duplicate-parameter", at, message)
            kept[location, name] = entry
        if len(kept) < len(owner["parameters"]):
            owner["parameters"] = list(kept.values())
        return {name for location, name in kept if location == "path"}

    def _declare(self, found: _Found, name: str) -> None:
        found.value["parameters"] = [*found.value.get("parameters", []), _path_parameter(name)]
        message = f"{name!r} of the path {found.path!r} is not declared; read as a string."
        self._note("undeclared-path-parameter", found.pointer, message)

    def _followed(self, pointer: str, value: Any) -> tuple[str, Any]:
        while isinstance(value.get("$ref"), str):
            pointer = unquote(value["$ref"])
            value = value_at(self._root, pointer)
        return pointer, value

    def _note(self, rule: str, pointer: str, message: str) -> None:
        found: Diagnostic = diagnostic(rule, pointer, message)
        # parameters of a path item are visited again for each of its operations
        if found not in self._mended.diagnostics:
            self._mended.diagnostics.append(found)


def _path_item_of(pointer: str) -> str:
    """Returns the pointer of the path item that contains an operation."""
    return pointer.rpartition("/")[0].removesuffix("/additionalOperations")


def _why_invalid(name: Any, location: Any) -> tuple[str, str] | None:
    """Returns the rule that a parameter breaks and the reason; None if name and location are valid."""
    if location == "querystring":
        return "not-supported", "a parameter in: querystring is not judged"
    if name is None or location not in LOCATIONS:
        needed = f"a 'name', and 'in' as one of {', '.join(LOCATIONS)}"
        return "invalid-parameter", f"the parameter {name!r} in {location!r} needs {needed}"
    return None


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _unusable(operation: dict[str, Any], reason: str, path: str) -> dict[str, Any]:
    """Returns an operation that always answers 501 with the reason (RFC 9110, 15.6.2)."""
    problem = {"title": "Operation not usable", "status": 501, "detail": f"{reason}."}
    response = {
        "description": "The document says too little of this operation.",
        "content": {"application/problem+json": {"schema": {"type": "object"}, "example": problem}},
    }
    kept: dict[str, Any] = {
        name: operation[name] for name in ("operationId", "tags") if name in operation
    }
    named = [_path_parameter(name) for name in PATH_PARAMETER.findall(path_of(path))]
    kept |= {"parameters": named} if named else {}
    return {
        **kept,
        "summary": f"Not usable: {reason}.",
        "security": [],
        "responses": {"501": response},
    }
