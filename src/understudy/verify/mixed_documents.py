"""Adds identifiers of known people to a document, so that generated cases meet existing people."""

import copy
from collections.abc import Mapping
from typing import Any, Final

from understudy.verify.history import made_up_hash
from understudy.verify.run import Run

IDENTIFIERS: Final = frozenset({"profileIdentifier", "sha256_hash"})
EMAIL_HASHES: Final = frozenset({"selected_email_hash", "email_hash"})

TEXTS: Final = IDENTIFIERS | EMAIL_HASHES | {"imageHash", "imageId"}
"""Names of the parameters that identifiers are added to."""


def mixed(raw: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Returns the document with identifiers of known people added to its parameters."""
    target = run.deployment.target
    known = target.known
    people = [*filter(None, (known.slug, known.other_slug)), *known.people, *known.own_hashes]
    values = dict.fromkeys(IDENTIFIERS, people)
    hashes = [*known.own_hashes, made_up_hash(7)]
    values |= dict.fromkeys(EMAIL_HASHES, hashes)
    values |= dict.fromkeys(("imageHash", "imageId"), sorted(run.gateway.made)[:5])
    document = copy.deepcopy(dict(raw))
    document["servers"] = [{"url": target.base_url}]
    for item in document.get("paths", {}).values():
        for holder in [item, *(part for part in item.values() if isinstance(part, dict))]:
            for parameter in holder.get("parameters", []):
                _mix(parameter, values)
    for parameter in document.get("components", {}).get("parameters", {}).values():
        _mix(parameter, values)
    return document


def _mix(parameter: dict[str, Any], values: Mapping[str, list[str]]) -> None:
    known = values.get(parameter.get("name", ""))
    if known and "schema" in parameter:
        parameter["schema"] = {"anyOf": [{"type": "string", "enum": known}, parameter["schema"]]}
