"""Hostile documents: each is served, and asked for what was once long, large, or the end of it."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from random import Random  # noqa: TID251 - drawn from the seed
from typing import Any

from tests.mock.server import hostile_documents
from tests.mock.server.conftest import Service
from tests.proofs.attack.files.attempts import Attempt, FileList

from understudy.errors import StartupError
from understudy.openapi.yaml_files import read_yaml

_DASHES = "/a/" + "-" * 60
_IN_FIELDS = "text/html\r\nX-Other: 1"

KINDS: Mapping[str, tuple[Callable[[], str], str]] = {
    "a path of 31 parameters in one segment": (hostile_documents.dashes, _DASHES),
    "the same path, and a slash": (hostile_documents.dashes, f"{_DASHES}/"),
    "20 schemas, each one of all others": (hostile_documents.alternatives, "/s"),
    "40 levels of alternatives": (hostile_documents.levels, "/s"),
    "20,000 paths": (hostile_documents.many_paths, "/group7/thing700/1"),
    "1,200 schemas in circles": (hostile_documents.circles, "/things0"),
    "a media type with a line end": (
        lambda: hostile_documents.document({"/s": {"get": _html()}}, {}),
        "/s",
    ),
}
"""Name of a document to what makes it, and what is asked of it."""

_SITE = {"response_validation": "warn"}
"""As another service's document is served."""

_NOTES = read_yaml(Path(hostile_documents.__file__).with_name("notes.yaml"))
_JUNK: Sequence[Any] = (
    None,
    1,
    "",
    "\r\n",
    "\x1b[2J",
    "«»",
    True,
    [],
    {},
    {"$ref": "#/gone"},
    -1,
    10**400,
)


def _html() -> dict[str, Any]:
    response = {"description": "", "content": {_IN_FIELDS: {"example": "x"}}}
    return {"responses": {"200": response}}


def attempts(count: int, seed: int) -> Iterator[Attempt]:
    """Yields the known kinds, and then a document with junk in several places."""
    chance = Random(seed)
    for name, (make, target) in [*KINDS.items()][:count]:
        yield Attempt(name, partial(served, make, target))
    for number in range(len(KINDS), count):
        yield Attempt(f"junk {number}", partial(served, partial(_with_junk, chance), "/notes/1"))


def _with_junk(chance: Random) -> str:
    document = deepcopy(_NOTES)
    for _ in range(chance.randrange(1, 6)):
        place: Any = document
        while isinstance(place, dict | list) and place:
            holder = place
            key = chance.choice([*holder] if isinstance(holder, dict) else range(len(holder)))
            place = holder[key]
            if chance.random() < 1 / 6:
                break
        holder[key] = deepcopy(chance.choice(_JUNK))
    return json.dumps(document)


def served(make: Callable[[], str], target: str) -> Iterator[str]:
    """Serves a document, and yields what should not have come of it; it may be refused by a text."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            service = Service(make(), Path(directory), api={"handlers": {}}, site=_SITE)
        except StartupError:
            return
        for _ in range(5):
            response = service.get(target)
            if response.status_code >= 500 and "x-mock-limit" not in response.headers:
                yield f"{target} is {response.status_code}: {response.text[:200]}"
            if "x-other" in response.headers:
                yield f"{target} has a header field of the document's media type"


FILES = FileList(attempts, count=400, seconds=30.0, megabytes=700)
