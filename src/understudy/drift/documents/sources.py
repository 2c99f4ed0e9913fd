"""Gathers the documents that a deployment is compared by: ours, its own, and its own of the last run."""

from dataclasses import dataclass
from pathlib import Path

import orjson

from understudy.drift.causes import DocumentEntry
from understudy.drift.differences import Difference
from understudy.drift.documents.changes import DocumentChange
from understudy.drift.documents.comparison import document_changes
from understudy.drift.documents.explaining import explained_by
from understudy.drift.files import replace_file
from understudy.errors import StartupError
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import Document, load
from understudy.verify.deployment import Deployment
from understudy.verify.ledger import Ledger
from understudy.verify.published import Unpublished, published_document
from understudy.verify.run import gateway_of


@dataclass(frozen=True, slots=True)
class ComparedDocuments:
    """Changes between an older and a newer document.

    Attributes:
        old: Name of the older one.
        new: Name of the newer one.
        changes: The changes, those first that break clients.
    """

    old: str
    new: str
    changes: tuple[DocumentChange, ...]


@dataclass(frozen=True, slots=True)
class DocumentsOfRun:
    """The documents of a comparison of deployments.

    Attributes:
        pairs: The documents that were compared; first that of the other deployment with that of
            the deployment.
        missing: Why a document was not compared, in one line each.
        published: The document that the deployment publishes; None if it publishes none.
    """

    pairs: tuple[ComparedDocuments, ...] = ()
    missing: tuple[str, ...] = ()
    published: Document | None = None

    def explained_by(self, difference: Difference) -> DocumentEntry | None:
        """Returns what explains a difference of behaviour; None if no document does."""
        changes = self.pairs[0].changes if self.pairs else ()
        change = explained_by(difference, changes)
        return None if change is None else DocumentEntry(f"document-{change.kind}", change.summary)


def compare_files(old: Path, new: Path) -> ComparedDocuments:
    """Compares two files.

    Raises:
        StartupError: One cannot be read, or is not an OpenAPI document.
    """
    return ComparedDocuments(str(old), str(new), document_changes(load(old), load(new)))


def documents_of_run(
    deployment: Deployment, other: Deployment | None, last_seen: Path | None
) -> DocumentsOfRun:
    """Reads the documents of deployments with one request each, and compares them.

    Args:
        deployment: The deployment.
        other: The deployment that it is compared with; None for the mock, whose document is known.
        last_seen: File of the document that the deployment published last; need not exist.

    Raises:
        StartupError: The file of the last document is not an OpenAPI document.
    """
    try:
        published = _published_by(deployment)
        ours = _in_force(deployment) if other is None else _published_by(other)
    except (Unpublished, StartupError) as error:
        reason = str(error).rstrip(".")
        return DocumentsOfRun(missing=(f"Documents are not compared: {reason}.",))
    own_name = f"the document of {deployment.target.base_url}"
    name = "our document" if other is None else f"the document of {other.target.base_url}"
    differing = document_changes(ours, published, have_same_addresses=False)
    pairs = [ComparedDocuments(name, own_name, differing)]
    if last_seen is not None and last_seen.exists():
        changes = document_changes(load(last_seen), published)
        pairs.append(ComparedDocuments(str(last_seen), own_name, changes))
    return DocumentsOfRun(tuple(pairs), published=published)


def keep_document(document: Document, path: Path) -> None:
    """Keeps the document that a deployment publishes, for the next run.

    Raises:
        StartupError: The file cannot be written.
    """
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
    replace_file(path, orjson.dumps(document.raw, option=options) + b"\n")


def _in_force(deployment: Deployment) -> Document:
    """Returns the document that the mock is served by, which the deployment is held to."""
    # As it is: for judging, verify has one that allows any status of a class.
    return deployment.document or load(openapi_directory() / "service.yaml")


def _published_by(deployment: Deployment) -> Document:
    ledger = Ledger(deployment.ledger, deployment.time.now())
    return published_document(gateway_of(deployment, _in_force(deployment), ledger))
