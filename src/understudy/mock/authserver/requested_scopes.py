"""Reads the scopes of a request, and describes them to people (interface, Authorization request)."""

import re
from collections.abc import Sequence

from understudy.interface.rules import upholds
from understudy.interface.vocabulary import Vocabulary

_INDEXED = re.compile(r"scope\[([0-9]{0,6})\]")


def is_scope_parameter(name: str) -> bool:
    """Tells whether a parameter carries scopes: ``scope``, ``scope[0]``, ``scope[]``."""
    return name == "scope" or _INDEXED.fullmatch(name) is not None


@upholds("scope-indexed-array", "scope-any-index", "scope-space-joined")
def requested(parameters: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Returns the scopes that a request contains, ordered by index, each once.

    Args:
        parameters: All parameters in order. Indexes may start anywhere and have gaps:
            ``scope[3]=a&scope[1]=b`` is b, a. Generic clients send ``scope=a b`` (RFC 6749, 3.3).
    """
    indexed = []
    for position, (name, text) in enumerate(parameters):
        match = _INDEXED.fullmatch(name)
        if match or name == "scope":
            index = int(match[1]) if match and match[1] else position
            indexed.append((index, text))
    words = [word for _, text in sorted(indexed, key=lambda pair: pair[0]) for word in text.split()]
    return tuple(dict.fromkeys(words))


@upholds("scope-at-least-one", "scope-auth-needed", "scope-known")
def error_in(scopes: Sequence[str], vocabulary: Vocabulary) -> str | None:
    """Returns what is wrong with the requested scopes, or None."""
    auth, known = vocabulary.scopes.auth, vocabulary.scope_names
    if not scopes:
        return f"scope is missing; request at least one: scope[0]={auth}."
    unknown = [scope for scope in scopes if scope not in known]
    if unknown:
        return f"scope {unknown[0]!r} is unknown; the scopes are {', '.join(known)}."
    if auth not in scopes:
        return f"scope {auth} is missing; every endpoint needs it."
    return None


def meanings(vocabulary: Vocabulary) -> dict[str, str]:
    """Returns the meaning of each scope, in words for the person who approves it."""
    return {
        vocabulary.scopes.auth: "Know who you are",
        vocabulary.scopes.read: "Read your profile and avatars",
        vocabulary.scopes.manage: "Edit your profile and avatars",
    }
