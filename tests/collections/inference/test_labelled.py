"""The finder beside a reader: 28 documents whose resources were labelled by hand."""

from pathlib import Path

import pytest

from understudy.collections.inference import find_resources
from understudy.collections.model import ResourceCollection
from understudy.openapi.loader import load
from understudy.openapi.yaml_files import read_yaml

LABELLED = Path(__file__).parent / "labelled"
LABELS = read_yaml(LABELLED / "labels.yaml")


def by_hand(name: str) -> set[str]:
    """Returns the claims of the labels: each operation in its role, and each identifier."""
    claims = set()
    for path, entry in LABELS[name].items():
        claims |= {f"{name} {it}" for it in entry["operations"]}
        if "identifier" in entry:
            claims.add(f"{name} {path} by {entry['identifier']}")
    return claims


def inferred(name: str) -> set[str]:
    """Returns the claims of the finder, written likewise."""
    model = find_resources(load(LABELLED / name))
    claims = set()
    for resource, it in model.roles():
        changed = "".join(f" {member}" for member in it.changes)
        claims.add(f"{name} {it.role} {' '.join(it.key)}{changed}")
        if isinstance(resource, ResourceCollection):
            claims.add(f"{name} {resource.path} by {resource.identifier}")
    return claims


def test_there_are_28_documents_and_each_is_labelled():
    documents = {path.name for path in LABELLED.glob("*.yaml")} - {"labels.yaml"}
    assert documents == LABELS.keys()
    assert len(documents) == 28


def test_of_what_is_claimed_95_percent_is_right_and_90_percent_is_claimed(record_property):
    labelled = {claim for name in LABELS for claim in by_hand(name)}
    claimed = {claim for name in LABELS for claim in inferred(name)}
    right = labelled & claimed
    precision, recall = len(right) / len(claimed), len(right) / len(labelled)
    record_property("precision", f"{precision:.3f} of {len(claimed)} claims")
    record_property("recall", f"{recall:.3f} of {len(labelled)} labels")
    assert precision >= 0.95, f"{precision:.3f}; wrong: {sorted(claimed - labelled)}"
    assert recall >= 0.9, f"{recall:.3f}; missed: {sorted(labelled - claimed)}"


@pytest.mark.parametrize("name", ["account.yaml", "blog.yaml", "files.yaml", "projects.yaml"])
def test_what_only_looks_like_a_collection_is_not_claimed(name):
    assert inferred(name) <= by_hand(name)
