"""Compares which credentials are enough for an operation."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from understudy.drift.documents.changes import NO_CLIENT, SENDERS, DocumentChange
from understudy.openapi.loader import Document, Node
from understudy.openapi.pointers import escape

Alternatives = tuple[Mapping[str, tuple[str, ...]], ...]


class SecurityChange(NamedTuple):
    """Credentials that are no longer enough, or newly so.

    Attributes:
        kind: Its kind, one of the document changes'.
        before: The credentials that were enough; empty where others were.
        after: The credentials that are enough; empty where others are.
    """

    kind: str
    before: str
    after: str


class Schemes:
    """Tells the security schemes of a document by what they are, as their names may differ.

    Args:
        document: The document.
    """

    def __init__(self, document: Document) -> None:
        listed = document.root.child("components", "securitySchemes") or Node("", {})
        self._identities = {
            str(name): _identity(document.expect(node, dict).value)
            for name, node in listed.children()
        }

    def credentials(self, alternatives: Alternatives) -> tuple[frozenset[str], ...]:
        """Returns the credentials and scopes of each alternative; none need to be sent for one.

        Args:
            alternatives: As an operation declares them.
        """
        return tuple(
            frozenset(text for name, scopes in one.items() for text in self._texts(name, scopes))
            for one in alternatives or ({},)
        )

    def _texts(self, name: str, scopes: tuple[str, ...]) -> Iterator[str]:
        identity = self._identities.get(name, name)
        yield identity
        yield from (f"scope {scope} of {identity}" for scope in scopes)


def security_changes(
    old: tuple[frozenset[str], ...], new: tuple[frozenset[str], ...]
) -> Iterator[SecurityChange]:
    """Yields what differs between the alternatives of two operations.

    Whoever meets an alternative meets each that demands no more.
    """
    lost = [one for one in old if not any(other <= one for other in new)]
    gained = [one for one in new if not any(other <= one for other in old)]
    if lost:
        yield SecurityChange("security-narrowed", _listed(lost), _listed(new))
    if gained and not all(any(one <= other for one in lost) for other in gained):
        yield SecurityChange("security-widened", "", _listed(gained))


def flow_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    """Yields the flows of OAuth that are new or gone, of schemes that both documents have."""
    before, after = _flows(old), _flows(new)
    for name in sorted(before.keys() & after.keys()):
        place = f"security scheme {name}"
        pointer = f"#/components/securitySchemes/{escape(name)}"
        for flow in sorted(before[name] - after[name]):
            yield DocumentChange("flow-removed", "", place, "", flow, "", SENDERS, pointer)
        for flow in sorted(after[name] - before[name]):
            yield DocumentChange("flow-added", "", place, "", "", flow, NO_CLIENT, pointer)


def _flows(document: Document) -> dict[str, frozenset[str]]:
    listed = document.root.child("components", "securitySchemes") or Node("", {})
    schemes = {str(name): document.expect(node, dict).value for name, node in listed.children()}
    return {
        name: frozenset(map(str, scheme["flows"]))
        for name, scheme in schemes.items()
        if isinstance(scheme.get("flows"), dict)
    }


def _identity(scheme: Mapping[str, Any]) -> str:
    kind = str(scheme.get("type"))
    details = {
        "apiKey": (scheme.get("in"), scheme.get("name")),
        "http": (str(scheme.get("scheme")).lower(),),
    }.get(kind, ())
    return " ".join(map(str, (kind, *details)))


def _listed(alternatives: list[frozenset[str]] | tuple[frozenset[str], ...]) -> str:
    return " or ".join(" and ".join(sorted(one)) or "no credential" for one in alternatives)
