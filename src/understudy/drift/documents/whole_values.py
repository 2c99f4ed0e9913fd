"""Writes keywords that are compared as a whole: without texts, and with references replaced."""

from typing import Any, Final

import orjson

from understudy.openapi.loader import Document, Node

MOST_VALUES: Final = 10_000
"""Number of values of one keyword within which references are replaced; beyond, their names count."""

DEEPEST: Final = 40
"""Levels of one keyword that are compared."""

_TEXTS: Final = frozenset({"title", "description", "example", "examples", "$comment"})


class WholeValues:
    """Writes the keywords of one document.

    Args:
        document: The document.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = MOST_VALUES

    def text(self, value: Any) -> str:
        """Returns a keyword's value as JSON that is the same for values that mean the same."""
        self._left = MOST_VALUES
        return json_text(self._resolved(value, DEEPEST))

    def _resolved(self, value: Any, levels: int) -> Any:
        self._left -= 1
        if not levels:
            return None
        if isinstance(value, list):
            return [self._resolved(item, levels - 1) for item in value]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("$ref"), str) and self._left > 0:
            target = self._document.follow(Node("#", value)).value
            return self._resolved(target, levels - 1)
        return {
            name: self._resolved(member, levels - 1)
            for name, member in value.items()
            # a member of an object may have such a name: then it is a schema
            if name not in _TEXTS or isinstance(member, dict)
        }


def json_text(value: Any) -> str:
    """Returns a value as JSON, its members in order."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
