"""Decides whether a document has inferred state, and with which items its worlds begin."""

from understudy.errors import StartupError
from understudy.interface.recognition import interface_operations
from understudy.mock.collections.bound import StatefulDocument
from understudy.mock.collections.seed_files import load_seed_data
from understudy.mock.collections.seeding import seeded
from understudy.mock.engine.records import Baseline
from understudy.mock.settings import Settings
from understudy.mock.store.items import LAST_NUMBERS
from understudy.openapi.loader import Document
from understudy.openapi.resources.finder import infer_resources


def stateful_document(document: Document, settings: Settings) -> StatefulDocument | None:
    """Returns a document with the state that is inferred from it, or None where there is none.

    Args:
        document: The document in force, as it was read.
        settings: Whether a state is inferred, and what corrects it.

    Raises:
        StartupError: The state model is not as it must be, or is of no use.
    """
    is_own = settings.handlers == "auto" and bool(interface_operations(document))
    if is_own or settings.infer == "off":
        for option, value in (
            ("--state-model", settings.state_model),
            ("--seed-data", settings.seed_data),
        ):
            if value is not None:
                reason = "the document is of the bundled service" if is_own else "--infer is off"
                msg = f"{option} {value} is of no use, as {reason}; leave one of them out."
                raise StartupError(msg)
        return None
    model = infer_resources(document, settings.state_model)
    if settings.seed_data is not None and not model.collections:
        msg = f"--seed-data {settings.seed_data}: the document has no collection; `understudy infer` says why."
        raise StartupError(msg)
    return StatefulDocument(document, model) if model.resources else None


def with_items(
    fixtures: Baseline, stateful: StatefulDocument | None, settings: Settings
) -> Baseline:
    """Returns fixtures with the items that worlds begin with, unless they have items of their own.

    Raises:
        StartupError: The seed data is not as it must be.
    """
    if stateful is None or LAST_NUMBERS.name in fixtures:
        return fixtures
    supplied = None if settings.seed_data is None else load_seed_data(settings.seed_data, stateful)
    stateful.beginning = seeded(stateful, settings.seed, supplied)
    return {**stateful.beginning, **fixtures}
