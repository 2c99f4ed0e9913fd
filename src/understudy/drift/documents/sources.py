"""Compares the OpenAPI documents of deployments: the mock's, the published and the last seen one.

Each change names the clients that it breaks, and can explain a difference of behaviour there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson

from understudy.drift.differences import Difference, DocumentEntry
from understudy.drift.documents.changes import (
    EVERYBODY,
    READERS,
    SENDERS,
    Audience,
    DocumentChange,
    presence_changes,
)
from understudy.drift.documents.flat_schemas import in_one_dialect
from understudy.drift.documents.operation_changes import OperationComparison, operation_name
from understudy.drift.documents.security_changes import scheme_address_changes, scheme_changes
from understudy.drift.files import replace_file
from understudy.errors import StartupError
from understudy.exchange.messages import Exchange
from understudy.interface.operations import DOCUMENT
from understudy.interface.vocabulary import in_words, load_vocabulary
from understudy.openapi.loader import Document, bundled_document, load, server_urls
from understudy.openapi.operations import (
    Operation,
    SentOperation,
    operations,
    path_shape,
    sent_operations,
)
from understudy.openapi.pointers import value_at
from understudy.verify.deployment import Deployment
from understudy.verify.ledger import Ledger
from understudy.verify.run import Unpublished, gateway_of, published_document


def server_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    """Yields the server URLs that are added or removed, of the document and of single operations."""
    servers = DocumentChange("server", "servers", SENDERS, pointer="#/servers")
    yield from presence_changes(servers, _urls(old.raw), _urls(new.raw))
    after = {operation_name(each): each for each in operations(new)}
    for operation in operations(old):
        other = after.get(operation_name(operation))
        if other is None:
            continue
        own, others = _own_urls(old, operation), _own_urls(new, other)
        if own or others:
            before, now = own or _urls(old.raw), others or _urls(new.raw)
            name = f"{other.method} {other.path}"
            place = replace(servers, operation=name, pointer=other.pointer)
            yield from presence_changes(place, before, now)


def _urls(owner: Any) -> tuple[str, ...]:
    """Returns the server URLs of a document, path item or operation, without a trailing slash."""
    servers = owner.get("servers") if isinstance(owner, dict) else None
    return tuple(dict.fromkeys(url.rstrip("/") for url in server_urls(servers)))


def _own_urls(document: Document, operation: Operation) -> tuple[str, ...]:
    """Returns the server URLs of an operation or its path item; empty if it has none of these."""
    path_item = operation.pointer.rpartition("/")[0]
    own, shared = (_urls(value_at(document.raw, it)) for it in (operation.pointer, path_item))
    return own or shared


def document_changes(
    old: Document, new: Document, *, have_same_addresses: bool = True
) -> tuple[DocumentChange, ...]:
    """Returns the changes between two documents, the breaking ones first.

    Texts, examples and the order of members are not compared.

    Args:
        old: The document that clients were written for.
        new: The document that is in force now.
        have_same_addresses: False if the documents are of two deployments, whose server and
            authorization URLs always differ.

    Raises:
        StartupError: A document is not valid OpenAPI.
    """
    old, new = in_one_dialect(old), in_one_dialect(new)
    changes = [*scheme_changes(old, new), *_operation_changes(old, new), *_sent_changes(old, new)]
    if have_same_addresses:
        changes += [*server_changes(old, new), *scheme_address_changes(old, new)]
    return tuple(sorted(dict.fromkeys(changes), key=lambda change: not change.is_breaking))


def _operation_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    before, after = _titled(_by_name(old), _by_name(new))
    yield from _presence_changes("operation", before, after, EVERYBODY)
    comparison = OperationComparison(old, new)
    for name, operation in before.items():
        if name in after:
            yield from comparison.changes(name, operation, after[name])


def _by_name(document: Document) -> dict[str, Operation]:
    """Returns operations by name; operations with equal names get a number."""
    named: dict[str, Operation] = {}
    for operation in operations(document):
        name, number = operation_name(operation), 1
        while name in named:
            number += 1
            name = f"{operation_name(operation)} ({number})"
        named[name] = operation
    return named


def _titled(
    old: Mapping[str, Operation], new: Mapping[str, Operation]
) -> list[dict[str, Operation]]:
    """Returns both by the names of the path parameters in the newer document, not by ``{}``."""
    titles = {
        name: f"{it.method} {it.path}{name.removeprefix(operation_name(it))}"
        for name, it in {**old, **new}.items()
    }
    return [{titles[name]: it for name, it in named.items()} for named in (old, new)]


def _sent_changes(old: Document, new: Document) -> Iterator[DocumentChange]:
    """Yields the changes of callbacks and webhooks: requests that the service sends to clients."""
    before = {sent.name: sent for sent in sent_operations(old)}
    after = {sent.name: sent for sent in sent_operations(new)}
    for kind in ("callback", "webhook"):
        own, others = _operations_of(kind, before), _operations_of(kind, after)
        yield from _presence_changes(kind, own, others, READERS)
    comparison = OperationComparison(old, new, READERS)
    for name in (name for name in before if name in after):
        sent, other = before[name], after[name]
        yield from comparison.changes(name, sent.operation, other.operation)
        if sent.address != other.address:
            yield DocumentChange(
                "callback-address",
                "",
                SENDERS,
                sent.address,
                other.address,
                operation=name,
                pointer=other.operation.pointer,
            )


def _operations_of(kind: str, sent: Mapping[str, SentOperation]) -> dict[str, Operation]:
    return {name: each.operation for name, each in sent.items() if each.kind == kind}


def _presence_changes(
    kind: str,
    old: Mapping[str, Operation],
    new: Mapping[str, Operation],
    audience: frozenset[Audience],
) -> Iterator[DocumentChange]:
    """Yields the operations that are added or removed, by their names."""
    for change in presence_changes(DocumentChange(kind, breaks=audience), old.keys(), new.keys()):
        name = change.before or change.after
        pointer = {**new, **old}[name].pointer
        yield replace(change, operation=name, pointer=pointer, before="", after="")


_REFUSED: Final = 400
_UNAUTHENTICATED: Final = frozenset({"401", "403"})
_ABSENT_OPERATION: Final = frozenset({"404", "405", "501"})

_PRESENCE: Final = ("operation-added", "operation-removed")
_STATUSES: Final = ("response-added", "response-removed")
_CODES: Final = ("code", "error")
_ALTERNATIVES: Final = ("alternative-added", "alternative-removed")


def explained_by(
    difference: Difference, changes: Iterable[DocumentChange]
) -> DocumentChange | None:
    """Returns the first change that explains a difference; None if no change does.

    Args:
        difference: The difference between a deployment and another one.
        changes: The changes from the other one's document to that of the deployment.
    """
    operation = difference.exchange.operation
    explains = _EXPLAINS.get(difference.aspect.partition(" ")[0], _is_of_presence)
    fitting = (it for it in changes if path_shape(it.operation) == operation)
    return next((it for it in fitting if explains(it, difference)), None)


def _is_of_presence(change: DocumentChange, difference: Difference) -> bool:
    return change.kind in _PRESENCE and _is_among(difference, _ABSENT_OPERATION)


def _explains_header(change: DocumentChange, difference: Difference) -> bool:
    is_named = change.place.lower().endswith(difference.aspect)
    return is_named and _is_of_response(change, difference)


def _explains_media_type(change: DocumentChange, difference: Difference) -> bool:
    return change.kind.startswith("media-type-") and _is_of_response(change, difference)


def _explains_code(change: DocumentChange, difference: Difference) -> bool:
    is_named = change.member.rpartition(".")[2] in _CODES
    return is_named and _is_of_response(change, difference)


def _explains_member(change: DocumentChange, difference: Difference) -> bool:
    name = difference.aspect.partition(" ")[2]
    is_above = change.kind in _ALTERNATIVES and (
        not change.member or name.startswith(f"{change.member}.")
    )
    is_named = is_above or name == (change.member or "body")
    return is_named and _is_of_response(change, difference)


def _explains_status(change: DocumentChange, difference: Difference) -> bool:
    if change.kind in _PRESENCE:
        return _is_of_presence(change, difference)
    if change.kind in _STATUSES:
        status = change.place.removeprefix("response ")
        return any(_is_of_class(value, status) for value in (difference.ours, difference.theirs))
    if change.place == "security":
        return _is_among(difference, _UNAUTHENTICATED)
    is_of_request = change.place.startswith("request body") or " parameter " in change.place
    return is_of_request and _is_refused_by_one(difference) and _is_touched(change, difference)


def _is_touched(change: DocumentChange, difference: Difference) -> bool:
    """Tells whether a request has the changed part, or lacks a part that is now required."""
    exchange = difference.exchange
    if change.place.startswith("request body"):
        return _has_member(exchange, change)
    location, _, name = change.place.partition(" parameter ")
    is_sent = {
        "query": name in exchange.request.query,
        "header": bool(exchange.request.header(name.lower())),
    }.get(location, True)
    return is_sent != _is_demanded(change)


def _has_member(exchange: Exchange, change: DocumentChange) -> bool:
    if not change.member:
        return True
    name = change.member.split(".")[0].removesuffix("[]")
    body = exchange.request.json
    is_sent = name in body if isinstance(body, dict) else name.encode() in exchange.request.body
    return is_sent != _is_demanded(change)


def _is_demanded(change: DocumentChange) -> bool:
    """Tells whether a change makes a part of requests required."""
    return change.kind.endswith("-required") or (
        change.kind.endswith("-added") and change.after == "required"
    )


def _is_of_response(change: DocumentChange, difference: Difference) -> bool:
    """Tells whether a change applies to the status of either response."""
    words = change.place.split(" ")
    statuses = {str(difference.exchange.status), str(difference.other.status)}
    return words[0] == "response" and any(_is_of_class(each, words[1]) for each in statuses)


def _is_of_class(status: str, declared: str) -> bool:
    return declared in {status, f"{status[:1]}XX", "default"}


def _is_among(difference: Difference, statuses: frozenset[str]) -> bool:
    return difference.aspect == "status" and bool({difference.ours, difference.theirs} & statuses)


def _is_refused_by_one(difference: Difference) -> bool:
    return len({int(value) >= _REFUSED for value in (difference.ours, difference.theirs)}) > 1


_EXPLAINS: Final[Mapping[str, Callable[[DocumentChange, Difference], bool]]] = {
    "status": _explains_status,
    "media": _explains_media_type,
    "picture": _explains_media_type,
    "header": _explains_header,
    "member": _explains_member,
    "error": _explains_code,
}
"""Tests whether a change explains a difference, by the first word of the difference's aspect."""


@dataclass(frozen=True, slots=True)
class ComparedDocuments:
    """Changes between an older and a newer document, the breaking ones first."""

    old: str
    new: str
    changes: tuple[DocumentChange, ...]


@dataclass(frozen=True, slots=True)
class DocumentsOfRun:
    """The documents of a comparison of deployments.

    Attributes:
        pairs: The documents that were compared; first those of the two deployments.
        missing: One line for each document that was not compared, with the reason.
        published: The document that the deployment publishes; None if it publishes none.
    """

    pairs: tuple[ComparedDocuments, ...] = ()
    missing: tuple[str, ...] = ()
    published: Document | None = None

    def explained_by(self, difference: Difference) -> DocumentEntry | None:
        """Returns the change of documents that explains a difference; None if no change does."""
        changes = self.pairs[0].changes if self.pairs else ()
        change = explained_by(difference, changes)
        return None if change is None else DocumentEntry(f"document-{change.kind}", change.summary)


def compare_files(old: Path, new: Path) -> ComparedDocuments:
    """Compares two files.

    Raises:
        StartupError: A file cannot be read, or is not an OpenAPI document.
    """
    return ComparedDocuments(str(old), str(new), document_changes(load(old), load(new)))


def documents_of_run(
    deployment: Deployment, other: Deployment | None, last_seen: Path | None
) -> DocumentsOfRun:
    """Reads the documents of deployments with one request each, and compares them.

    Args:
        deployment: The deployment.
        other: The deployment that it is compared with; None for the mock.
        last_seen: File with the document of the last run; it need not exist.

    Raises:
        StartupError: The file of the last document is not an OpenAPI document.
    """
    try:
        published = _published_by(deployment)
        ours = _in_force(deployment) if other is None else _published_by(other)
    except (Unpublished, StartupError) as error:
        reason = str(error)
        end = "" if reason.endswith((".", "?")) else "."
        return DocumentsOfRun(missing=(f"Documents are not compared: {reason}{end}",))
    own_name = f"the document of {deployment.target.base_url}"
    named = "our document" if deployment.document is None else str(deployment.document.path)
    name = named if other is None else f"the document of {other.target.base_url}"
    changes = document_changes(ours, published, have_same_addresses=False)
    # that a service publishes its document need not be in the document that it is judged by
    differing = tuple(it for it in changes if it.operation != DOCUMENT or it.is_breaking)
    pairs = [ComparedDocuments(name, own_name, differing)]
    if last_seen is not None and last_seen.exists():
        since = document_changes(load(last_seen), published)
        pairs.append(ComparedDocuments(str(last_seen), own_name, since))
    return DocumentsOfRun(tuple(pairs), published=published)


def keep_document(document: Document, path: Path) -> None:
    """Keeps the document that a deployment publishes, for the next run.

    Raises:
        StartupError: The file cannot be written.
    """
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
    replace_file(path, orjson.dumps(document.raw, option=options) + b"\n")


def _in_force(deployment: Deployment) -> Document:
    """Returns the document that the mock serves, and by which the deployment is judged."""
    # the file itself: the one that verify judges by allows every status of a declared class
    if deployment.document is not None:
        return deployment.document
    words = deployment.target.vocabulary
    bundled = bundled_document("service.yaml")
    return bundled if words is None else in_words(bundled, load_vocabulary(Path(words)))


def _published_by(deployment: Deployment) -> Document:
    ledger = Ledger(deployment.ledger, deployment.time.now())
    return published_document(gateway_of(deployment, _in_force(deployment), ledger))
