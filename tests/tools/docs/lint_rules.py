"""The page on the rules of ``understudy lint``, from the module that holds them."""

from tests.tools.docs.markdown import code, page, table

from understudy.openapi.diagnostics import CONTRADICTIONS, LOSSES


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
        "`understudy lint FILE` lists the mistakes of an OpenAPI document. An error is a part that is not"
        " served as written; a warning is a part that is interpreted as it was probably meant.",
        "## Losses",
        "Parts that cannot be used as written. `serve`, `verify` and `generate` print the first five when"
        " they start, and continue.",
        tables[0],
        "## Contradictions",
        "Valid OpenAPI that cannot be intended. Only `understudy lint` looks for it.",
        tables[1],
    )
