"""Runs the corpus on the mock, and on two peers from npm: ``python -m tests.proofs.corpus``.

Every mock gets the same documents and the same requests, and is judged by the same judge. Peers are
installed below ``~/.cache`` at the first run.
"""

import argparse
import contextlib
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from tests.proofs.corpus.cases import DOCUMENTS, CorpusDocument, read
from tests.proofs.corpus.mocks import Send, ours, theirs
from tests.proofs.corpus.scores import Score, Serve, score
from tests.proofs.corpus.sequences import LIVES, faults, inference, labelled_documents
from tests.tools.benchmarks.peers import OURS, peers_on
from tests.tools.benchmarks.preparing import install
from tests.tools.bring import PLACE

CACHE = PLACE / "peers"
_HEAD = ("mock", "documents start", "responses conform", "refused", "reason named", "failures")


def main() -> int:
    """Runs the corpus, prints a table, and returns 1 if our mock misses a goal."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.corpus")
    parser.add_argument("--alone", action="store_true", help="run our mock only")
    parser.add_argument("--faults", action="store_true", help="list every fault of every mock")
    options = parser.parse_args()
    documents = [read(path) for path in DOCUMENTS]
    scores = {OURS: score(documents, lambda document: ours(document.path))}
    if not options.alone:
        scores |= {peer.name: score(documents, _peer(peer.name)) for peer in peers_on(DOCUMENTS[0])}
    console = Console(width=140)
    for name, result in scores.items():
        if options.faults or name == OURS:
            console.print(*(f"{name}: {fault}" for fault in result.faults), sep="\n", markup=False)
    console.print(table(scores))
    is_right = print_state(console)
    return 0 if scores[OURS].reaches_goals and is_right else 1


def print_state(console: Console) -> bool:
    """Prints what is inferred of each labelled document, and which sequences behave, by kind.

    Returns:
        True if nine tenths of the sequences behave, and of the labels are found.
    """
    table, labelled, right, claimed = Table("document", "labels", "claims", "right"), 0, 0, 0
    for path, labels in labelled_documents():
        found = inference(path, labels)
        counts = (len(found.labelled), len(found.claimed), len(found.right))
        table.add_row(path.stem, *map(str, counts))
        labelled, claimed, right = (
            labelled + counts[0],
            claimed + counts[1],
            right + counts[2],
        )
    table.add_row("all", str(labelled), str(claimed), str(right))
    console.print(table)
    console.print(f"recall {right / labelled:.1%}, precision {right / claimed:.1%}")
    kinds = Table("document", "sequence", "behaves")
    behaving = [(path.stem, kind, fault) for path in LIVES for kind, fault in faults(path)]
    for stem, kind, fault in behaving:
        kinds.add_row(stem, kind, f"no: {fault[:200]}" if fault else "yes")
    console.print(kinds)
    count = sum(not fault for *_, fault in behaving)
    console.print(f"{count} of {len(behaving)} sequences behave.")
    return count >= 0.9 * len(behaving) and right >= 0.9 * labelled


def _peer(name: str) -> Serve:
    """Returns what serves documents by a peer, each in a process of its own."""

    @contextlib.contextmanager
    def serve(document: CorpusDocument) -> Iterator[Send]:
        (peer,) = (it for it in peers_on(document.path) if it.name == name)
        lacking = install(peer, CACHE)
        if lacking is not None:
            sys.exit(lacking)
        with theirs(peer, CACHE) as send:
            yield send

    return serve


def table(scores: dict[str, Score]) -> Table:
    """Returns the scores, one mock a row."""
    rows = Table(*_HEAD)
    for name, it in scores.items():
        counts = (
            (it.started, it.documents),
            (it.conforming, it.valid),
            (it.refused, it.invalid),
            (it.named, it.invalid),
        )
        cells = [f"{part} of {whole} ({part / whole:.1%})" for part, whole in counts]
        rows.add_row(name, *cells, str(it.failures))
    return rows


if __name__ == "__main__":
    sys.exit(main())
