"""The page on fixtures: what lives in the bundled ones, and the keys of the files."""

from typing import Any

from tests.tools.docs.docstrings import summary
from tests.tools.docs.markdown import code, codes, page, prose, table
from tests.tools.docs.structs import keys, nested

from understudy.interface.vocabulary import Vocabulary
from understudy.mock.fixtures.loading import load
from understudy.mock.store.applications import APPLICATIONS, Application
from understudy.mock.store.people import PEOPLE, Person
from understudy.mock.store.tokens import TOKENS, Token
from understudy.openapi.bundled import fixtures_directory


def page_of_fixtures() -> str:
    """Returns the page: people, tokens and applications that are bundled, then the file formats."""
    baseline: Any = load(fixtures_directory())
    people = sorted(baseline[PEOPLE.name].values(), key=lambda person: person.slug)
    tokens = baseline[TOKENS.name].values()
    applications = baseline[APPLICATIONS.name].values()
    return page(
        "Fixtures",
        "A fixtures directory contains `people/<slug>.yaml` (one person per file; `*.jsonl` one per line),"
        " and optionally `tokens.yaml`, `applications/<client_id>.yaml` and `images/`. The bundled one is"
        " `fixtures/`. `understudy fixtures --list` prints the tables below, with e-mail addresses and"
        " passwords.",
        "## Bundled people",
        "A person without a password in the file has the password `<slug>-password`.",
        table(("slug", "why this person is there"), ((code(it.slug), it.about) for it in people)),
        "## Bundled tokens",
        table(
            ("token", "person", "scopes", "what it is for"),
            ((code(it.token), code(it.person), codes(it.scopes), it.about) for it in tokens),
        ),
        "## Bundled applications",
        table(
            ("client_id", "client_secret", "redirect addresses", "what it is for"),
            (
                (code(it.client_id), code(it.client_secret), codes(it.redirect_uris), it.about)
                for it in applications
            ),
        ),
        "## File formats",
        *_records(Person, "people/<slug>.yaml"),
        *_records(Token, "tokens.yaml"),
        *_records(Application, "applications/<client_id>.yaml"),
        *_records(Vocabulary, "the one that `serve --vocabulary` names"),
    )


def _records(record: Any, path: str) -> list[str]:
    file = path if "`" in path else f"`{path}`"
    parts = [f"### {record.__name__}", f"{prose(summary(record))} File: {file}.", keys(record)]
    for inner in nested(record):
        parts += [f"#### {inner.__name__}", prose(summary(inner)), keys(inner)]
    return parts
