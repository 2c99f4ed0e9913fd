"""Reads the base paths of the servers that a document names (OpenAPI 3.0.3, Server Object)."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice, product
from posixpath import normpath
from typing import Any
from urllib.parse import unquote

MOST_VALUES = 16
"""The most addresses of one server that are distinguished, as variables with many values give very many."""

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_SLASHES = re.compile("/{2,}")


def base_paths(servers: Any) -> tuple[str, ...]:
    """Returns the paths of a list of servers, each without a slash at the end.

    A variable has its default, and then each further value that it is declared to have. A relative
    address is relative to the root, as the mock publishes the document.

    Args:
        servers: The value of ``servers``; what is not as OpenAPI has it is left out.
    """
    return tuple(dict.fromkeys(_path(url) for url in server_urls(servers)))


def server_urls(servers: Any) -> tuple[str, ...]:
    """Returns the addresses of a list of servers, with the values of their variables.

    Args:
        servers: The value of ``servers``; what is not as OpenAPI has it is left out.
    """
    listed = servers if isinstance(servers, list) else []
    urls = (url for server in listed if isinstance(server, dict) for url in _urls(server))
    return tuple(dict.fromkeys(urls))


def _urls(server: Mapping[str, Any]) -> Iterator[str]:
    """Yields the addresses of a server, the one with the defaults first."""
    url = str(server.get("url", "/"))
    variables = server.get("variables")
    declared = variables if isinstance(variables, dict) else {}
    names = list(dict.fromkeys(_VARIABLE.findall(url)))
    values = [_values(name, declared.get(name)) for name in names]
    for chosen in islice(product(*values), MOST_VALUES):
        texts = dict(zip(names, chosen, strict=True))
        yield _VARIABLE.sub(lambda match, texts=texts: texts[match[1]], url)  # type: ignore[misc]  # bound per loop


def _values(name: str, variable: Any) -> list[str]:
    """Returns the values of a variable, its default first; its name where it has none."""
    declared = variable if isinstance(variable, dict) else {}
    listed = declared.get("enum")
    default = declared.get("default", next(iter(listed or ()), name))
    return list(dict.fromkeys(map(str, (default, *(listed or ())))))


def _path(url: str) -> str:
    text = re.split("[?#]", url, maxsplit=1)[0]
    scheme, separator, rest = text.partition("//")
    is_absolute = bool(separator) and (not scheme or scheme.endswith(":"))
    path = f"/{rest.partition('/')[2]}" if is_absolute else f"/{text}"
    return _SLASHES.sub("/", normpath(unquote(path))).rstrip("/")
