"""Compares which credentials are enough for an operation, and the security schemes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from understudy.drift.documents.changes import (
    NO_CLIENT,
    SENDERS,
    Audience,
    DocumentChange,
    presence_changes,
)
from understudy.openapi.loader import Document
from understudy.openapi.operations import security_schemes
from understudy.openapi.pointers import escape

_ADDRESSES: Final = ("authorizationUrl", "tokenUrl", "refreshUrl", "openIdConnectUrl")

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
        self._identities = {
            name: _identity(scheme) for name, scheme in security_schemes(document).items()
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


def scheme_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    """Yields the security schemes that are new or gone, and the flows and scopes of OAuth.

    A scheme alone breaks nobody: what operations need is compared at each of them.
    """
    before, after = security_schemes(old), security_schemes(new)
    kinds = {_identity(scheme) for scheme in before.values()}
    others = {_identity(scheme) for scheme in after.values()}
    for name, scheme in before.items():
        if _identity(scheme) not in others:
            yield replace(_place("scheme-removed", name), before=_identity(scheme))
    for name, scheme in after.items():
        if _identity(scheme) not in kinds:
            yield replace(_place("scheme-added", name), after=_identity(scheme))
    for name in (name for name in before if name in after):
        yield from _flow_changes(name, _flows(before[name]), _flows(after[name]))


def _flow_changes(
    name: str, old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]
) -> Iterator[DocumentChange]:
    yield from presence_changes(_place("flow", name, SENDERS), sorted(old), sorted(new))
    for flow in sorted(old.keys() & new.keys()):
        scopes, others = (
            [f"{scope} of {flow}" for scope in sorted(_scopes(it[flow]))] for it in (old, new)
        )
        yield from presence_changes(_place("scope", name, SENDERS), scopes, others)


def scheme_address_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    """Yields the addresses of authorization that are others, of schemes that both documents have."""
    before, after = security_schemes(old), security_schemes(new)
    for name in (name for name in before if name in after):
        own, others = _addresses(before[name]), _addresses(after[name])
        for label in own:
            if own[label] != others.get(label, own[label]):
                place = _place("scheme-address", name, SENDERS)
                yield replace(place, before=own[label], after=others[label])


def _place(kind: str, scheme: str, breaks: frozenset[Audience] = NO_CLIENT) -> DocumentChange:
    pointer = f"#/components/securitySchemes/{escape(scheme)}"
    return DocumentChange(kind, f"security scheme {scheme}", breaks, pointer=pointer)


def _flows(scheme: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    flows = scheme.get("flows")
    listed = flows.items() if isinstance(flows, dict) else ()
    return {str(name): flow for name, flow in listed if isinstance(flow, dict)}


def _scopes(flow: Mapping[str, Any]) -> frozenset[str]:
    scopes = flow.get("scopes")
    return frozenset(map(str, scopes)) if isinstance(scopes, dict) else frozenset()


def _addresses(scheme: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Returns the addresses that a client of a scheme sends requests to, by flow and member."""
    places = {"": scheme, **_flows(scheme)}
    return {
        (place, member): str(owner[member])
        for place, owner in places.items()
        for member in _ADDRESSES
        if member in owner
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
