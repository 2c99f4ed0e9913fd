"""Reads the catalogue of rules (``openapi/rules.yaml``), and marks the code that enforces one.

Where the interface is silent a rule is an assumption, and says what was chosen and why. Where a
client team would want to test the other reading, or to lift a strictness, the rule has a switch.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any, Literal, TypeVar

from msgspec import Struct, ValidationError, convert

from understudy.errors import StartupError, nearest
from understudy.openapi.yaml_files import read_yaml

_MARKS: dict[CodeType, tuple[str, ...]] = {}
"""The rules that ``upholds`` marked, by the code of the function."""

Function = TypeVar("Function", bound=Callable[..., object])

_KEBAB_CASE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def upholds(*rule_ids: str) -> Callable[[Function], Function]:
    """Marks a function as the place where the mock enforces these rules of ``rules.yaml``.

    The house tests compare the marks with the catalogue, in both directions.
    """

    def mark(function: Function) -> Function:
        function.upholds = rule_ids  # type: ignore[attr-defined]  # functions take any
        _MARKS[function.__code__] = rule_ids
        return function

    return mark


def upheld(codes: Iterable[CodeType]) -> tuple[str, ...]:
    """Returns the rules that these functions hold, in their order."""
    return tuple(dict.fromkeys(rule for code in codes for rule in _MARKS.get(code, ())))


class Option(Struct, frozen=True, forbid_unknown_fields=True):
    """One reading of an assumption; ``value`` is a number where it is a status."""

    value: str | int
    meaning: str


class SwitchEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A switch as the file writes it."""

    name: str
    options: tuple[Option, ...]
    default: str | int


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule that the interface's prose states or implies.

    Attributes:
        id: In kebab-case; what reports, marks and baselines call it.
        statement: The rule in one sentence.
        section: The section of the interface that contains it.
        status: Whether the interface states it, a standard that it builds on implies it, the
            interface is silent and we chose, or it is inferred from the document of another service.
        source: Where an implied rule comes from: a section of an RFC or of the interface.
        held_by: What enforces it in the mock: the documents in ``openapi/``, the resource API's code, or
            the authorization server's.
        choice: What we chose; of an implied rule, where its source leaves something open.
        why: Why so.
        switch: How to choose another option; on a stated rule, how to disable it.
    """

    id: str
    statement: str
    section: str
    status: Literal["stated", "implied", "assumed", "inferred"]
    held_by: Literal["document", "mock", "authorization"]
    source: str = ""
    choice: str = ""
    why: str = ""
    switch: SwitchEntry | None = None


@dataclass(frozen=True, slots=True)
class Switch:
    """A rule with several options to choose from.

    Attributes:
        name: What ``--choose`` calls it.
        options: Each option and what it means.
        default: The option in force unless another is chosen.
        rule: The id of the rule.
    """

    name: str
    options: Mapping[str, str]
    default: str
    rule: str


def load_rules(path: Path) -> tuple[Rule, ...]:
    """Loads the catalogue, in the file's order.

    Raises:
        StartupError: A rule is not as it must be; the text names the file and the rule.
    """
    entries = read_yaml(path)
    if not isinstance(entries, list):
        msg = f"{path} must be a list of rules."
        raise StartupError(msg)
    rules: dict[str, Rule] = {}
    for number, entry in enumerate(entries, start=1):
        rule = _rule(entry, rules)
        if isinstance(rule, str):
            name = entry.get("id", number) if isinstance(entry, dict) else number
            msg = f"{path}: rule {name}: {rule}."
            raise StartupError(msg)
        rules[rule.id] = rule
    try:
        switches(rules.values())
    except StartupError as error:
        msg = f"{path}: {error}"
        raise StartupError(msg) from error
    return tuple(rules.values())


def switches(rules: Iterable[Rule]) -> dict[str, Switch]:
    """Returns the switches of the catalogue by name.

    Raises:
        StartupError: Two have one name.
    """
    catalogue: dict[str, Switch] = {}
    for rule in rules:
        entry = rule.switch
        if entry is None:
            continue
        if entry.name in catalogue:
            msg = f"rule {rule.id}: the switch {entry.name!r} is {catalogue[entry.name].rule}'s already."
            raise StartupError(msg)
        options = {str(option.value): option.meaning for option in entry.options}
        catalogue[entry.name] = Switch(entry.name, options, str(entry.default), rule.id)
    return catalogue


def choose(switches: Mapping[str, Switch], texts: Iterable[str]) -> dict[str, str]:
    """Reads choices such as ``avatar-delete-status=200``; of two for one switch the last counts.

    Returns:
        Switch name to option.

    Raises:
        StartupError: There is no such switch, or it has no such option.
    """
    return dict(_choice(switches, text) for text in texts)


def _choice(switches: Mapping[str, Switch], text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    switch = switches.get(name)
    if switch is None:
        fault = f"{name!r} is no switch"
        msg = _with_offers(fault, nearest(name, list(switches)), switches)
        raise StartupError(msg)
    if value not in switch.options:
        fault = f"{name} has no option {value!r}" if equals else f"{name} is given no option"
        offers = [f"{name}={option} ({meaning})" for option, meaning in switch.options.items()]
        msg = _with_offers(fault, nearest(value, list(switch.options)), offers)
        raise StartupError(msg)
    return name, value


def _with_offers(fault: str, hint: str, offers: Iterable[str]) -> str:
    return f"{fault}{hint or '.'} There are {_listed(offers)}."


def _rule(entry: Any, above: Mapping[str, Rule]) -> Rule | str:
    """Returns a rule, or what is wrong with it."""
    try:
        rule = convert(entry, Rule)
    except ValidationError as error:
        return f"{error}; a rule has {_listed(Rule.__struct_fields__)}"
    if rule.id in above:
        return "the id is taken by a rule above; choose another"
    if rule.status == "inferred":
        return "no rule of the interface is inferred; it is stated, implied or assumed"
    return _fault(rule) or rule


def _fault(rule: Rule) -> str | None:
    is_decided = bool(rule.choice and rule.why)
    if not _KEBAB_CASE.fullmatch(rule.id):
        return "the id must be in kebab-case, such as qr-default-size"
    if rule.status == "assumed" and not is_decided:
        return "an assumption needs both: choice (what we chose) and why"
    if rule.status == "stated" and (rule.choice or rule.why):
        return "what is stated leaves nothing to choose; drop choice and why"
    if bool(rule.choice) != bool(rule.why):
        return "choice and why belong together; give both or neither"
    if (rule.status == "implied") != bool(rule.source):
        return "just an implied rule has a source, such as RFC 6749, 4.1.2"
    return _switch_fault(rule.switch) if rule.switch else None


def _switch_fault(entry: SwitchEntry) -> str | None:
    values = [str(option.value) for option in entry.options]
    if len(set(values)) != len(values) or not values[1:]:
        return f"the switch {entry.name!r} needs two options or more, each once"
    if str(entry.default) not in values:
        return f"the default {entry.default!r} of {entry.name!r} is not among {_listed(values)}"
    return None


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
