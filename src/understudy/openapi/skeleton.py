"""Builds the 3.0.3 view of a document that Connexion routes on.

Connexion refuses OpenAPI 3.1 and parts of 3.0, and converting schemas down fails on real documents.
Routing needs no schemas: only paths and methods. That much is generated; validators and security
come from the original (``schemas``, ``server/access``).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.operations import Operation
from understudy.openapi.paths import ENCODED_SLASH, decoded_path, specificity, takes_slash


def routing_id(operation: Operation) -> str:
    """Returns the operationId that the skeleton gives: unique even where the document's is not."""
    return f"{operation.method} {operation.path}"


def parameter_texts(path: str, texts: Sequence[str]) -> dict[str, str]:
    """Returns the texts of the path parameters by the document's names.

    Args:
        path: The path template of the operation.
        texts: As a matcher found them, in their order.
    """
    names = _names(path)
    return {name: text.replace(ENCODED_SLASH, "/") for name, text in zip(names, texts, strict=True)}


def routed_texts(path: str, routed: Mapping[str, str]) -> dict[str, str]:
    """Returns the same of the texts that a router found, by the skeleton's names."""
    return parameter_texts(path, [routed[_name(*it)] for it in enumerate(_names(path))])


@lru_cache(maxsize=1024)
def _names(path: str) -> Sequence[str]:
    names: list[str] = PATH_PARAMETER.findall(path)
    return names


def skeleton(operations: Sequence[Operation]) -> dict[str, Any]:
    """Returns a document that Connexion accepts, with the same paths and methods.

    Its paths are in the order in which they are to be tried, as a router tries them so. Of operations
    with the same method and path only the first is in it.
    """
    paths: dict[str, dict[str, Any]] = {}
    for operation in sorted(operations, key=lambda it: specificity(it.path)):
        methods = paths.setdefault(routed_path(operation), {})
        methods.setdefault(operation.method.lower(), _operation(operation))
    return {
        "openapi": "3.0.3",
        "info": {"title": "skeleton", "version": "0"},
        "paths": paths,
    }


def routed_path(operation: Operation) -> str:
    """Returns the path template of an operation in the skeleton, literal text decoded."""
    numbers = count()
    template = decoded_path(operation.path)
    return PATH_PARAMETER.sub(lambda match: f"{{{_name(next(numbers), match[1])}}}", template)


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "operationId": routing_id(operation),
        "parameters": [_path_parameter(*it) for it in enumerate(_names(operation.path))],
        "responses": {"default": {"description": "see the original"}},
    }


def _name(number: int, name: str) -> str:
    """Returns the skeleton's name of a path parameter; those that take slashes match elsewhere."""
    return f"rest{number}" if takes_slash(name) else f"p{number}"


def _path_parameter(number: int, name: str) -> dict[str, Any]:
    # the format by which Connexion has a parameter take slashes
    schema = {"type": "string", **({"format": "path"} if takes_slash(name) else {})}
    return {"name": _name(number, name), "in": "path", "required": True, "schema": schema}
