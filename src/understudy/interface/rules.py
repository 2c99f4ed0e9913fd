"""Reads the catalogue of rules (``openapi/rules.yaml``), and marks the code that enforces one.

Where the interface is silent a rule is an assumption, and says what was chosen and why. Where a
client team would want to test the other reading, or to lift a strictness, the rule has a switch.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, Literal, TypeVar

from msgspec import Struct, ValidationError, convert, field

from understudy.errors import StartupError, nearest
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.yaml_files import read_yaml

_ERROR = re.compile(r"([1-5][0-9]{2})(?: ([A-Za-z][A-Za-z0-9_.-]{0,63}))?")
"""Matches a status code, alone or before an error code."""


class NumberRange(Struct, frozen=True, forbid_unknown_fields=True):
    """The numbers that a switch takes instead of options.

    Attributes:
        least: The smallest number.
        most: The largest number.
        unit: The unit, such as pixels.
        step: Every number is a multiple of it.
    """

    least: int
    most: int
    unit: str
    step: int = 1

    def __contains__(self, text: str) -> bool:
        """Tells whether a text is one of the numbers, in decimal digits without leading zeros."""
        if not text.isascii() or not text.isdecimal() or len(text) > len(str(self.most)):
            return False
        number = int(text)
        is_within = self.least <= number <= self.most and number % self.step == 0
        return is_within and str(number) == text

    def __str__(self) -> str:
        """Returns the range in words."""
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        return f"a number from {self.least} to {self.most}{steps}"


class ErrorForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The status and the error code that a switch takes instead of options, such as ``410 gone``.

    Attributes:
        statuses: The statuses to choose from; a single one is stated by the interface.
    """

    statuses: tuple[int, ...]

    def __contains__(self, text: str) -> bool:
        """Tells whether a text is one of the statuses, alone or before an error code."""
        form = _ERROR.fullmatch(text)
        return form is not None and int(form[1]) in self.statuses

    def __str__(self) -> str:
        """Returns the form in words."""
        statuses = " or ".join(map(str, self.statuses))
        return f"{statuses}, and after a space the error code, if there is one"


_MARKS: dict[CodeType, tuple[str, ...]] = {}
"""Code object of a function to the rules that ``upholds`` marked it with."""

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
    """Returns the rules that the functions with this code enforce, in the functions' order."""
    return tuple(dict.fromkeys(rule for code in codes for rule in _MARKS.get(code, ())))


class Option(Struct, frozen=True, forbid_unknown_fields=True):
    """An option of a switch, with its meaning."""

    value: str
    meaning: str


class Switch(Struct, frozen=True, forbid_unknown_fields=True):
    """The switch of a rule, with options, a range of numbers, or an error form to choose from.

    Attributes:
        name: The name that ``--choose`` takes.
        default: The option in force unless another is chosen.
        listed: The options as the file lists them; none for a switch with a range or an error form.
        range: The numbers to choose from, or None.
        error: The statuses and error codes to choose from, or None.
    """

    name: str
    default: str
    listed: tuple[Option, ...] = field(name="options", default=())
    range: NumberRange | None = None
    error: ErrorForm | None = None

    @property
    def values(self) -> NumberRange | ErrorForm | None:
        """The range or the error form; None for a switch with options."""
        return self.range or self.error

    @property
    def options(self) -> Mapping[str, str]:
        """Option to its meaning; only the default for a switch with a range or an error form."""
        if self.range is not None:
            return {self.default: self.range.unit}
        if self.error is not None:
            return {self.default: "status and error code of the refusal"}
        return {option.value: option.meaning for option in self.listed}

    def __contains__(self, option: str) -> bool:
        """Tells whether the switch has an option, or accepts a value."""
        return option in (self.values or self.options)

    @property
    def offers(self) -> tuple[str, ...]:
        """Every choice, with its meaning."""
        if self.range is not None:
            return (f"{self.range} ({self.range.unit})",)
        if self.error is not None:
            return (f"{self.error}, such as {self.name}='{self.default}'",)
        return tuple(f"{self.name}={option} ({text})" for option, text in self.options.items())


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule that the interface's prose states or implies.

    Attributes:
        id: The id in kebab-case, which reports, ``upholds`` and baselines use.
        statement: The rule in one sentence.
        section: The section of the interface that contains it.
        status: Whether the interface states it, a standard that it builds on implies it, we assume
            it as the interface is silent, or another service's document lets us infer it.
        source: Source of an implied rule: a section of an RFC or of the interface.
        held_by: The part of the mock that enforces it: the documents in ``openapi/``, the resource
            API's code, or the authorization server's.
        choice: What we chose; for an implied rule, where its source leaves something open.
        why: The reason for the choice.
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
    switch: Switch | None = None


@cache  # a run looks rules up four times
def bundled_rules() -> tuple[Rule, ...]:
    """Returns the rules of the interface."""
    return load_rules(openapi_directory() / "rules.yaml")


def load_rules(path: Path) -> tuple[Rule, ...]:
    """Loads the catalogue, in the file's order.

    Raises:
        StartupError: A rule is not valid; the text names the file and the rule.
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


@cache  # as above
def bundled_switches() -> Mapping[str, Switch]:
    """Returns the switches of the interface's rules by name."""
    return switches(bundled_rules())


def switches(rules: Iterable[Rule]) -> dict[str, Switch]:
    """Returns the switches of the catalogue by name.

    Raises:
        StartupError: Two switches have the same name.
    """
    catalogue: dict[str, Switch] = {}
    owners: dict[str, str] = {}
    for rule in rules:
        if rule.switch is None:
            continue
        name = rule.switch.name
        if name in owners:
            msg = f"rule {rule.id}: the switch {name!r} is {owners[name]}'s already."
            raise StartupError(msg)
        owners[name], catalogue[name] = rule.id, rule.switch
    return catalogue


def choose(switches: Mapping[str, Switch], texts: Iterable[str]) -> dict[str, str]:
    """Parses choices such as ``avatar-delete-status=200``; the last one for a switch wins.

    Returns:
        Switch name to option.

    Raises:
        StartupError: The switch or the option does not exist.
    """
    return dict(_choice(switches, text) for text in texts)


def bundled_choices(texts: Sequence[str]) -> dict[str, str]:
    """Parses choices of the interface's switches, as ``choose`` does; without any, no rule is read."""
    return choose(bundled_switches(), texts) if texts else {}


def _choice(switches: Mapping[str, Switch], text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    switch = switches.get(name)
    if switch is None:
        fault = f"{name[:200]!r} is not a switch"
        msg = f"{fault}{nearest(name, list(switches)) or '; `understudy rules` lists them.'}"
        raise StartupError(msg)
    if value not in switch:
        fault = f"{name} has no option {value[:200]!r}" if equals else f"{name} is given no option"
        hint = nearest(value, list(switch.options)) if switch.values is None else ""
        msg = f"{fault}{hint or f'. There are {_listed(switch.offers)}.'}"
        raise StartupError(msg)
    return name, value


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


def _switch_fault(switch: Switch) -> str | None:
    if switch.values is not None:
        kind = "errors" if switch.range is None else "a range"
        if switch.listed:
            return f"the switch {switch.name!r} has options and {kind}; give one of them"
        if switch.range is not None and not _is_range(switch.range):
            return (
                f"the range of {switch.name!r} needs two multiples of its step, the smaller first"
            )
    elif len(switch.options) != len(switch.listed) or not switch.listed[1:]:
        return f"the switch {switch.name!r} needs two options or more, each once"
    if switch.default not in switch:
        known = switch.values or f"among {_listed(switch.options)}"
        return f"the default {switch.default!r} of {switch.name!r} is not {known}"
    return None


def _is_range(numbers: NumberRange) -> bool:
    ends = {str(numbers.least), str(numbers.most)}
    return numbers.step > 0 and len(ends) > 1 and all(end in numbers for end in ends)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
