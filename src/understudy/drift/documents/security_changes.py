"""Compares the credentials that operations require, and the security schemes of documents."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

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


class Schemes:
    """Identifies the security schemes of a document by type and place, as names may differ."""

    def __init__(self, document: Document) -> None:
        self._identities = {
            name: _identity(scheme) for name, scheme in security_schemes(document).items()
        }

    def credentials(self, alternatives: Alternatives) -> tuple[frozenset[str], ...]:
        """Returns the credentials and scopes of each alternative; empty for anonymous access."""
        return tuple(
            frozenset(text for name, scopes in it.items() for text in self._texts(name, scopes))
            for it in alternatives or ({},)
        )

    def _texts(self, name: str, scopes: tuple[str, ...]) -> Iterator[str]:
        identity = self._identities.get(name, name)
        yield identity
        yield from (f"scope {scope} of {identity}" for scope in scopes)


def security_changes(
    old: tuple[frozenset[str], ...], new: tuple[frozenset[str], ...]
) -> Iterator[tuple[str, str, str]]:
    """Yields each change between the alternatives of two operations: its kind, the old and new credentials.

    Credentials for one alternative suffice for every other that requires a subset of them.
    """
    lost = [before for before in old if not any(after <= before for after in new)]
    gained = [after for after in new if not any(before <= after for before in old)]
    if lost:
        yield "security-narrowed", _listed(lost), _listed(new)
    if gained and not all(any(before <= after for before in lost) for after in gained):
        yield "security-widened", "", _listed(gained)


def scheme_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    """Yields the security schemes, OAuth flows and scopes that are added or removed.

    A scheme as such breaks no client: the requirements of each operation are compared separately.
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
    """Yields the changed URLs of the schemes that both documents have, such as ``tokenUrl``."""
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
    """Returns the URLs that clients of a scheme use, by flow and member."""
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
    return " or ".join(" and ".join(sorted(it)) or "no credential" for it in alternatives)
