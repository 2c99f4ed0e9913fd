"""What the paths of a site's documents say beyond routing: what is allowed, and what was meant.

Connexion's 405 names only the first route's method, and its 404 names nothing.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import zip_longest

from understudy.openapi.operations import PATH_PARAMETER, Operation


class Paths:
    """The path templates of one site.

    Args:
        apis: Base path to the operations under it.
        optional: The base path that may be left out.
    """

    def __init__(self, apis: Mapping[str, Sequence[Operation]], optional: str = "") -> None:
        self._templates: dict[str, tuple[re.Pattern[str], set[str]]] = {}
        self._optional = optional
        self._segments = {_first_segment(o.path) for o in apis.get(optional, ())}
        for base_path, operations in apis.items():
            for operation in operations:
                template = base_path + operation.path
                _, methods = self._templates.setdefault(template, (_pattern(template), set()))
                methods |= {"GET", "HEAD"} if operation.method == "GET" else {operation.method}

    def based(self, path: str) -> str:
        """Returns the path with the base path that it was asked without."""
        return self._optional + path if _first_segment(path) in self._segments else path

    def template(self, path: str) -> str | None:
        """Returns the template that a path fits, its base path included."""
        fitting = (text for text, (pattern, _) in self._templates.items() if pattern.match(path))
        return next(fitting, None)

    def allowed(self, path: str) -> tuple[str, ...]:
        """Returns the methods that a path takes; none where no template fits (RFC 9110, 10.2.1)."""
        fitting = (methods for pattern, methods in self._templates.values() if pattern.match(path))
        return tuple(sorted({method for methods in fitting for method in methods}))

    def hint(self, path: str) -> str:
        """Returns ``; did you mean …?`` for a path that leads nowhere, or nothing."""
        filled = {fill(template, path): template for template in self._templates}
        close = get_close_matches(path, list(filled), n=1)
        return f"; did you mean {filled[close[0]]!r}?" if close else ""


def fill(template: str, path: str) -> str:
    """Returns a template with what a path has in its places, so that the two can be compared."""
    parts = zip_longest(template.split("/"), path.split("/"), fillvalue="")
    filled = [given if "{" in part else part for part, given in parts]
    return "/".join(filled[: template.count("/") + 1])


def _pattern(template: str) -> re.Pattern[str]:
    texts = PATH_PARAMETER.split(template)[::2]
    return re.compile("[^/]+".join(re.escape(text) for text in texts) + r"\Z")


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""
