"""Selects the rules that apply to a service; other services have only the rules of any document."""

from collections.abc import Mapping, Sequence
from functools import cache

from understudy import plugins
from understudy.errors import StartupError, nearest
from understudy.interface.recognition import interface_operations
from understudy.interface.rules import Rule, bundled_rules
from understudy.openapi.loader import Document
from understudy.openapi.operations import operations
from understudy.verify.findings import ANSWERS, DOCUMENT, GENERATED, PLAIN


@cache
def _foreign_rules() -> Mapping[str, Rule]:
    """Loads the rules of plugins; importing them registers their checks.

    Raises:
        StartupError: A plugin's rule has the id of another rule.
    """
    known = {rule.id for rule in bundled_rules()}
    found: dict[str, Rule] = {}
    for name, rules in plugins.every("rules").items():
        for rule in rules:
            if rule.id in known or rule.id in found:
                msg = f"The rules '{name}' of a package have a rule '{rule.id}', which there is already; rename it."
                raise StartupError(msg)
            found[rule.id] = rule
    return found


def suggested_rules() -> Mapping[str, Rule]:
    """Returns the rules, by id, that understudy infers from a document of resource collections."""
    rules: Mapping[str, Rule] = plugins.find("suggested_rules", "collections")
    return rules


def catalogue(wanted: Sequence[str] = ()) -> dict[str, Rule]:
    """Returns the wanted rules by id: bundled, of every document, inferred, and of plugins.

    Raises:
        StartupError: A wanted rule does not exist.
    """
    rules = {rule.id: rule for rule in bundled_rules()}
    rules |= {rule.id: rule for rule in (ANSWERS, DOCUMENT, GENERATED, PLAIN)}
    rules |= suggested_rules()
    rules |= _foreign_rules()
    for name in wanted:
        if name not in rules:
            hint = nearest(name, list(rules)) or "; `understudy rules` lists them."
            msg = f"--rules {name}: there is no such rule{hint}"
            raise StartupError(msg)
    return {name: rules[name] for name in rules if not wanted or name in wanted}


def rules_of(document: Document, wanted: Sequence[str] = ()) -> dict[str, Rule]:
    """Returns the rules that apply to the service that a document describes.

    Another service is judged only by rules that read the expectation from the document itself.

    Args:
        document: The document in force.
        wanted: Ids of the rules to judge; empty for all.

    Raises:
        StartupError: A wanted rule does not exist, or is not of that service.
    """
    rules = catalogue(wanted)
    is_own = bool(interface_operations(document))
    of_any = {
        ANSWERS.id,
        DOCUMENT.id,
        GENERATED.id,
        PLAIN.id,
        *suggested_rules(),
        *_foreign_rules(),
    }
    judged = rules.keys() - {PLAIN.id, *suggested_rules()} if is_own else of_any
    for name in wanted:
        if name not in judged:
            known = "the rules of `understudy rules`" if is_own else ", ".join(sorted(judged))
            service = "this interface" if is_own else "another service"
            msg = (
                f"--rules {name}: {document.path} describes {service}, of which only "
                f"{known} can be judged."
            )
            raise StartupError(msg)
    return {name: rules[name] for name in rules if name in judged}


def require_interface(document: Document) -> None:
    """Raises an error for a document of another service, to which no rule applies.

    Raises:
        StartupError: None of its operations is one of the interface's.
    """
    if not interface_operations(document):
        msg = (
            f"{document.path}: 0 of its {len(operations(document))} operations are of this interface;"
            " use --cases to judge by the document alone."
        )
        raise StartupError(msg)
