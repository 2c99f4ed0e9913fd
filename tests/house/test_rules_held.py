"""The catalogue of rules and the code that holds them agree, in both directions."""

import ast
import re
from pathlib import Path

import understudy
from understudy.interface.rules import load_rules, switches
from understudy.mock.policies import (
    NO_TOKEN,
    RULES_OF_MECHANISMS,
    SWITCHES_OF_CODES,
    SWITCHES_OF_SCOPES,
    TOO_LARGE,
    UNKNOWN_MEMBER,
)
from understudy.mock.service.own_profile import LONGEST
from understudy.openapi.bundled import openapi_directory

SOURCES = Path(understudy.__file__).parent
RULES = load_rules(openapi_directory() / "rules.yaml")


def marks() -> dict[str, set[str]]:
    """Returns each marked rule with the modules that hold it."""
    found: dict[str, set[str]] = {}
    for path in SOURCES.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "upholds" in text else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for rule in marked_by(node):
                    found.setdefault(rule, set()).add(path.relative_to(SOURCES).as_posix())
    for rules in RULES_OF_MECHANISMS.values():
        for rule in rules:
            found.setdefault(rule, set()).add("mock/policies.py")
    return found


def marked_by(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    calls = [call for call in node.decorator_list if isinstance(call, ast.Call)]
    marking = [call for call in calls if getattr(call.func, "id", "") == "upholds"]
    arguments = [argument for call in marking for argument in call.args]
    return [str(a.value) for a in arguments if isinstance(a, ast.Constant)]


def test_every_rule_that_code_holds_is_marked_there():
    held = {rule.id for rule in RULES if rule.held_by != "document"}
    assert held - set(marks()) == set()


def test_every_mark_names_a_rule_that_code_holds():
    held = {rule.id for rule in RULES if rule.held_by != "document"}
    assert set(marks()) - held == set()


def test_every_switch_is_read_by_the_code_and_every_one_read_is_in_the_catalogue():
    code = "".join(path.read_text() for path in SOURCES.rglob("*.py"))
    read = set(re.findall(r'(?:choices\.get|_when)\(\s*"([a-z-]+)"', code))
    read |= {*SWITCHES_OF_SCOPES.values(), *LONGEST.values()}
    errors = {*SWITCHES_OF_CODES.values(), NO_TOKEN, TOO_LARGE, UNKNOWN_MEMBER}
    assert read | errors == set(switches(RULES))


def test_every_default_of_the_code_is_the_catalogues():
    code = "".join(path.read_text() for path in SOURCES.rglob("*.py"))
    for name, default in re.findall(r'choices\.get\("([a-z-]+)", "(\w+)"\)', code):
        assert switches(RULES)[name].default == default
