"""A difference of behaviour is explained by the change of the documents that is about it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.drift.documents.edits import DOCUMENTS, EDITS
from tests.verify.exchanges import exchange_of

from understudy.drift.differences import Difference
from understudy.drift.documents.sources import document_changes, explained_by
from understudy.openapi.loader import document_of, load

QR = {"method": "GET", "operation": "GET /qr-code/{}"}
LOOKUP = {"method": "GET", "operation": "GET /profiles/{}"}
REFUSAL = {"status": 400}


def explanation(title: str, difference: Difference) -> str | None:
    """Returns the kind of the change that explains a difference, of an edited document."""
    edit = next(each for each in EDITS if each.title == title)
    changed = document_of(edit.after(), Path("changed.yaml"))
    changes = document_changes(load(DOCUMENTS[edit.document]), changed)
    explaining = explained_by(difference, changes)
    return None if explaining is None else explaining.kind


def difference(aspect: str, values: tuple[str, str], path: str, **more: Any) -> Difference:
    """Returns a difference whose values are also its statuses, where it is one of statuses."""
    ours, theirs = values if aspect == "status" else ("200", "200")
    exchange = exchange_of(path, status=int(ours), **more)
    return Difference(aspect, *values, exchange, exchange_of(path, status=int(theirs), **more))


@pytest.mark.parametrize(
    ("title", "seen"),
    [
        ("a parameter has a lower maximum", difference("status", ("400", "200"), "/qr-code/a?size=2000", **QR)),
        ("a parameter is required", difference("status", ("400", "200"), "/qr-code/a", **QR)),
        ("a credential is required", difference("status", ("401", "200"), "/qr-code/a", **QR)),
        ("a media type of a response is gone", difference("media type", ("image/svg+xml", "image/png"), "/qr-code/a", **QR)),
        ("a response may have a header more", difference("header x-style", ("present", "absent"), "/qr-code/a", **QR)),
        ("a member of a response may be null", difference("member location", ("null", "text"), "/profiles/ada", **LOOKUP)),
        ("a path is gone", difference("status", ("404", "200"), "/me/associated-email", operation="GET /me/associated-email")),
    ],
)  # fmt: skip
def test_a_difference_names_the_change_that_is_about_it(title: str, seen: Difference):
    edit = next(each for each in EDITS if each.title == title)
    assert explanation(title, seen) in {edit.kind, "media-type-added"}


@pytest.mark.parametrize(
    ("title", "seen"),
    [
        ("a parameter has a lower maximum", difference("status", ("400", "200"), "/qr-code/a", **QR)),
        ("a parameter is required", difference("status", ("400", "200"), "/qr-code/a?size=9", **QR)),
        ("a member of a response may be null", difference("member company", ("null", "text"), "/profiles/ada", **LOOKUP)),
        ("a credential is required", difference("status", ("401", "200"), "/profiles/ada", **LOOKUP)),
        ("an operation is deprecated", difference("status", ("404", "200"), "/qr-code/a", **QR)),
    ],
)  # fmt: skip
def test_a_change_of_something_else_explains_nothing(title: str, seen: Difference):
    assert explanation(title, seen) is None


def test_a_change_of_another_status_explains_no_member():
    seen = difference("member location", ("null", "text"), "/profiles/ada", **LOOKUP)
    refused = exchange_of("/profiles/ada", status=404, **LOOKUP)
    other = replace(seen, exchange=refused, other=refused)
    assert explanation("a member of a response may be null", other) is None
