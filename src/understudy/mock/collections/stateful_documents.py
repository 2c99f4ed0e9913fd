"""Infers the state of a document, and the items that its worlds begin with."""

from collections.abc import Iterator

from understudy.errors import StartupError
from understudy.mock.collections.bound import StatefulDocument
from understudy.mock.collections.handlers import StatefulOperation
from understudy.mock.collections.seed_files import load_seed_data
from understudy.mock.collections.seeding import seeded
from understudy.mock.server.handlers import DocumentHandler
from understudy.mock.server.worlds import Baseline
from understudy.mock.settings import Settings
from understudy.mock.store.items import LAST_NUMBERS
from understudy.openapi.loader import Document
from understudy.openapi.resources.finder import infer_resources


def infer(document: Document, settings: Settings) -> StatefulDocument | None:
    """Returns a document with the state that is inferred from it, or None where there is none.

    Args:
        document: The document in force, as it was read.
        settings: What corrects the inference.

    Raises:
        StartupError: The state model is not as it must be, or is of no use.
    """
    model = infer_resources(document, settings.state_model)
    if settings.seed_data is not None and not model.collections:
        msg = f"--seed-data {settings.seed_data}: the document has no collection; `understudy infer` says why."
        raise StartupError(msg)
    return StatefulDocument(document, model) if model.resources else None


def with_items(fixtures: Baseline, stateful: StatefulDocument, settings: Settings) -> Baseline:
    """Returns fixtures with the items that worlds begin with, unless they have items of their own.

    Raises:
        StartupError: The seed data is not as it must be.
    """
    if LAST_NUMBERS.name in fixtures:
        return fixtures
    supplied = None if settings.seed_data is None else load_seed_data(settings.seed_data, stateful)
    stateful.beginning = seeded(stateful, settings.seed, supplied)
    return {**stateful.beginning, **fixtures}


def handlers(
    stateful: StatefulDocument,
) -> Iterator[tuple[tuple[str, str], DocumentHandler]]:
    """Yields method and path of every operation with state, and what responds to it."""
    for resource, role in stateful.model.roles():
        yield role.key, StatefulOperation(stateful, resource, role)
