"""Selects the operations that cases are made of, and the documents that describe them."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from understudy.errors import StartupError, nearest
from understudy.generate.cases import Case, CaseKind
from understudy.generate.plans import OperationPlan, Planner
from understudy.generate.sequences.creations import NoSequence
from understudy.generate.sequences.lives import CollectionSequences, collection_sequences
from understudy.generate.stream import KINDS, cases
from understudy.generate.test_data import TestData
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import load
from understudy.openapi.resources.finder import infer_resources

WORDS: dict[str, frozenset[CaseKind]] = {
    "valid": frozenset({"valid"}),
    "invalid": frozenset({"invalid"}),
    "all": KINDS,
}
"""The values of ``--kind``; cases that the contract leaves open are only in ``all``."""


def planners(
    document: Path | None, test_data: TestData, overlays: Sequence[Path] = ()
) -> tuple[Planner, ...]:
    """Returns the planners of a document, or of the two bundled documents.

    Args:
        document: The document; None for the bundled ones.
        test_data: The people, avatars and applications that the cases use.
        overlays: Overlay files that change the document, in their order.

    Raises:
        StartupError: The document cannot be read.
    """
    if document is not None:
        return (Planner(load(document, overlays), "resource", test_data),)
    directory = openapi_directory()
    return (
        Planner(load(directory / "service.yaml"), "resource", test_data),
        Planner(load(directory / "authorization.yaml"), "authorization", test_data),
    )


def plans(planners: Sequence[Planner], names: Sequence[str] = ()) -> list[OperationPlan]:
    """Returns the plans of the named operations, or of all.

    Raises:
        StartupError: There is no such operation; the text names the nearest one.
    """
    by_name = {o.operation_id: (planner, o) for planner in planners for o in planner.operations}
    for name in names:
        if name not in by_name:
            hint = nearest(name, list(by_name)) or "."
            msg = f"There is no operation {name!r}{hint} There are {', '.join(by_name)}."
            raise StartupError(msg)
    if not by_name:
        msg = "The document has no operations, so there is nothing to make cases of."
        raise StartupError(msg)
    chosen = dict.fromkeys(names or by_name)
    return [planner.plan(operation) for planner, operation in map(by_name.__getitem__, chosen)]


class SequenceSource(NamedTuple):
    """The collections of documents that sequences are made of.

    Attributes:
        collections: Those that a sequence can try.
        omitted: In words, why no sequence tries each of the others.
    """

    collections: tuple[CollectionSequences, ...]
    omitted: tuple[str, ...]


def sequence_source(
    planners: Sequence[Planner], names: Sequence[str] = (), state_model: Path | None = None
) -> SequenceSource:
    """Returns the collections whose operations are named, or all.

    Args:
        planners: The planners of the documents.
        names: Operations; a collection that has any of them is chosen.
        state_model: A state-model file that corrects what is inferred.

    Raises:
        StartupError: There is no such operation, or no collection that a sequence can try.
    """
    wanted = {plan.context.operation.pointer for plan in plans(planners, names)} if names else None
    collections, omitted = [], []
    for planner in planners:
        model = infer_resources(planner.document, state_model)
        for collection in model.collections:
            pointers = {it.operation.pointer for it in collection.operations}
            if wanted is not None and not wanted & pointers:
                continue
            try:
                collections.append(collection_sequences(planner, collection, model))
            except NoSequence as error:
                omitted.append(f"{collection.path}: no sequence, as {error}.")
    if not collections:
        why = " ".join(omitted) or "The document has no collection that is sure enough."
        msg = f"{why} `understudy infer FILE` shows the collections, and --state-model states them."
        raise StartupError(msg)
    return SequenceSource(tuple(collections), tuple(omitted))


def generate_sequences(
    collections: Sequence[CollectionSequences], count: int, seed: int, kinds: frozenset[CaseKind]
) -> Iterator[Case]:
    """Yields the steps of ``count`` sequences of each collection, or of as many as it has."""
    for collection in collections:
        for sequence in collection.sequences(count, seed, kinds):
            yield from sequence


def generate(
    plans: Sequence[OperationPlan], count: int, seed: int, kinds: frozenset[CaseKind]
) -> Iterator[Case]:
    """Yields ``count`` cases of each operation, or as many as it has.

    Cases that use up what others need come last.
    """
    for plan in plans:
        stream = islice(cases(plan, seed, kinds), count)
        if not plan.is_valid_first:
            yield from stream
            continue
        yield from (case for case in stream if case.kind == "valid")
        # The same cases again, because a million of them must not be kept in memory.
        again = islice(cases(plan, seed, kinds), count)
        yield from (case for case in again if case.kind != "valid")
