"""The page on the rules of ``understudy lint``, from the module that holds them."""

from tests.tools.docs.markdown import code, page, table

from understudy.openapi.diagnostics import LOSSES
from understudy.openapi.linting import CONTRADICTIONS


def page_of_lint_rules() -> str:
    """Returns the page: every rule with its severity and what it reports."""
    tables = [
        table(
            ("rule", "severity", "what it reports"),
            ((code(name), rule.severity, rule.statement) for name, rule in rules.items()),
        )
        for rules in (LOSSES, CONTRADICTIONS)
    ]
    return page(
        "Rules of lint",
        "`understudy lint FILE` lists what is wrong with an OpenAPI document. An error is a part that is"
        " not served as it was written; a warning is a part that is read as it was probably meant.",
        "## Losses",
        "What cannot be taken as it was written. `serve`, `verify` and `generate` print the first five"
        " when they start, and go on.",
        tables[0],
        "## Contradictions",
        "What is valid OpenAPI, but cannot be meant. Only `understudy lint` looks for it.",
        tables[1],
    )
