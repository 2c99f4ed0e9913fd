"""The pages on rules and switches, from ``openapi/rules.yaml``."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from tests.tools.docs.markdown import code, page, table

from understudy.collections.rules import INFERRED
from understudy.interface.rules import Rule, Switch, load_rules
from understudy.openapi.bundled import openapi_directory


def switches_page() -> str:
    """Returns the page on switches: what the mock chose, and what else can be chosen."""
    rules = _rules()
    parts = [
        "If the interface leaves a question open, the mock implements one answer, and a switch selects"
        " another: for a run (`understudy serve --choose avatar-delete-status=200`), for a world"
        ' (`"choices": {"avatar-delete-status": "200"}`), or for one request (the header'
        " `X-Mock-Choose: avatar-delete-status=200`). The default is in bold."
    ]
    for rule in rules:
        if rule.switch is not None:
            parts += [f"## {rule.switch.name}", rule.statement, _options(rule.switch), rule.why]
    return page("Switches", *parts)


def rules_page() -> str:
    """Returns the page on the rules of the interface's prose."""
    rules = _rules()
    parts = [
        f"`openapi/rules.yaml` holds {len(rules)} rules; `understudy verify` checks each of them, and"
        " `understudy rules` lists them in a terminal. A *stated* rule is in the interface. An *assumed*"
        " rule is a choice of the mock where the interface is silent; if another deployment breaks it, that"
        " is a note and not a finding."
        + (
            " An *implied* rule follows from a standard that the interface builds on, and is judged"
            " everywhere."
            if any(rule.status not in {"stated", "assumed"} for rule in rules)
            else ""
        )
    ]
    for section, members in groupby(rules, lambda rule: rule.section):
        heads = ("rule", "status", "what it says", "source, choice, switch")
        parts += [f"## {section}", table(heads, map(_row, members))]
    return page("Rules", *parts, *_inferred())


def _inferred() -> list[str]:
    """Returns the section on the rules that are in no file."""
    lines = table(
        ("rule", "what it says"), ((code(it.id), it.statement) for it in INFERRED.values())
    )
    return [
        "## Inferred state",
        "What a reader of another service's document expects of its collections. A broken *inferred* rule is"
        " a note, and a finding if the target file accepts the rule as stated (`accept_as_stated`).",
        lines,
    ]


def _row(rule: Rule) -> tuple[str, str, str, str]:
    extra: Iterable[Any] = (
        getattr(rule, "source", ""),
        rule.choice,
        f"[{rule.switch.name}](switches.md#{rule.switch.name})" if rule.switch else "",
    )
    return code(rule.id), rule.status, rule.statement, "; ".join(str(it) for it in extra if it)


def _options(switch: Switch) -> str:
    lines = []
    for value, meaning in switch.options.items():
        name = f"**`{value}`**" if value == switch.default else code(value)
        values = f" ({switch.values})" if switch.values else ""
        lines.append(f"- {name}: {meaning}{values}")
    return "\n".join(lines)


def _rules() -> tuple[Rule, ...]:
    return load_rules(openapi_directory() / "rules.yaml")
