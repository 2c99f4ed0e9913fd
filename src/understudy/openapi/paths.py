"""Matches paths with path templates: the one matcher, for the mock and for its judge.

The mock is routed by Connexion, whose 405 names only the first route's method and whose 404 names
nothing; what a path allows, and what was probably meant, is found out here.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import zip_longest

from understudy.openapi.operations import PATH_PARAMETER, Operation

LONGEST_COMPARED = 200
"""Characters of a path that is compared with templates: that takes the square of their number."""


class Paths:
    """The path templates that are served at one address.

    Args:
        apis: Base path to the operations under it.
        optional: The base path that a request may leave out.
    """

    def __init__(self, apis: Mapping[str, Sequence[Operation]], optional: str = "") -> None:
        self._templates: dict[str, tuple[re.Pattern[str], set[str]]] = {}
        self._optional = optional
        self._segments = {_first_segment(o.path) for o in apis.get(optional, ())}
        for base_path, operations in apis.items():
            for operation in operations:
                template = base_path + operation.path
                _, methods = self._templates.setdefault(template, (path_pattern(template), set()))
                methods |= {"GET", "HEAD"} if operation.method == "GET" else {operation.method}

    def based(self, path: str) -> str:
        """Returns the path with its base path, which the request may have left out."""
        return self._optional + path if _first_segment(path) in self._segments else path

    def template(self, path: str) -> str | None:
        """Returns the template that a path fits, its base path included."""
        matching = (
            text for text, (pattern, _) in self._templates.items() if pattern.fullmatch(path)
        )
        return next(matching, None)

    def allowed(self, path: str) -> tuple[str, ...]:
        """Returns the methods that a path takes; none where no template fits (RFC 9110, 10.2.1)."""
        matching = (
            methods for pattern, methods in self._templates.values() if pattern.fullmatch(path)
        )
        return tuple(sorted({method for methods in matching for method in methods}))

    def hint(self, path: str) -> str:
        """Returns ``; did you mean …?`` for a path that leads nowhere, or nothing."""
        if len(path) > LONGEST_COMPARED:
            return ""
        filled = {fill(template, path): template for template in self._templates}
        close = get_close_matches(path, list(filled), n=1)
        return f"; did you mean {filled[close[0]]!r}?" if close else ""


def fill(template: str, path: str) -> str:
    """Returns a template with what a path has in its places, so that the two can be compared."""
    parts = zip_longest(template.split("/"), path.split("/"), fillvalue="")
    filled = [segment if "{" in part else part for part, segment in parts]
    return "/".join(filled[: template.count("/") + 1])


def path_pattern(template: str) -> re.Pattern[str]:
    """Compiles a path template; each parameter is a group, and takes no slash.

    Match with ``fullmatch``, so that a line end is no end of the path.
    """
    texts = PATH_PARAMETER.split(template)[::2]
    return re.compile("([^/]+)".join(re.escape(text) for text in texts))


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""
