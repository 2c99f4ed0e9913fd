"""Lints a document: collects the losses of reading it (``mending``), and looks for contradictions.

A contradiction is valid OpenAPI that cannot be intended, such as a minimum above the maximum.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from re import _parser  # the parser has no public name
from typing import Any, Final

import msgspec
import yaml

from understudy.errors import StartupError
from understudy.openapi.diagnostics import Diagnostic, Severity, diagnostic
from understudy.openapi.expressions import unread_expressions
from understudy.openapi.loader import Document, Node
from understudy.openapi.mending import mend
from understudy.openapi.mends import shown
from understudy.openapi.operations import Operation, examples_of, operations, sent_operations
from understudy.openapi.paths import routed_path
from understudy.openapi.pointers import escape, steps_of, value_at
from understudy.openapi.references import FILES
from understudy.openapi.sample_texts import FAKER_HINT, provided
from understudy.openapi.schemas import ALL, Schemas, schemas_of
from understudy.record_schemas import record_schema


def check_document(document: Document, schemas: Schemas) -> Iterator[Diagnostic]:
    """Yields the contradictions between parts of a document."""
    declared = operations(document)
    yield from _check_paths(declared)
    yield from _check_security(document, declared)
    for operation in declared:
        yield from _check_request(schemas, operation)
    for sent in sent_operations(document):
        unread = sent.kind == "callback" and unread_expressions(sent.address)
        if unread:
            message = f"the mock does not send the {sent.name}, as it cannot read {unread[0]!r}."
            yield diagnostic("not-sent", sent.operation.pointer, message)
        if value_at(document.raw, sent.operation.pointer).get("callbacks"):
            pointer = f"{sent.operation.pointer}/callbacks"
            message = f"the mock does not send the callbacks of the {sent.name}, which it sends."
            yield diagnostic("not-sent", pointer, message)


def _check_paths(declared: tuple[Operation, ...]) -> Iterator[Diagnostic]:
    first: dict[tuple[str, str], str] = {}
    for operation in declared:
        path = first.setdefault((operation.method, routed_path(operation)), operation.path)
        if path != operation.path:
            message = f"{operation.method} requests that fit {operation.path!r} go to {path!r}."
            yield diagnostic("unreachable-path", operation.pointer, message)


def _check_security(document: Document, declared: tuple[Operation, ...]) -> Iterator[Diagnostic]:
    listed = document.root.child("components", "securitySchemes") or Node("", {})
    used = set()
    for operation in declared:
        names = {name for alternative in operation.security for name in alternative}
        used |= names
        for name in sorted(names - set(listed.value)):
            message = f"{name!r} is not a security scheme of the document."
            yield diagnostic("undeclared-security-scheme", operation.pointer, message)
    for name in listed.value:
        if name not in used:
            pointer = f"{listed.pointer}/{escape(name)}"
            yield diagnostic("unused-security-scheme", pointer, f"no operation uses {name!r}.")


def _check_request(schemas: Schemas, operation: Operation) -> Iterator[Diagnostic]:
    content = operation.request_body.content if operation.request_body else {}
    for media in content.values():
        if media.schema is None:
            continue
        members = schemas.members(media.schema, ALL)
        for name in schemas.required_names(media.schema):
            member = schemas.follow(members[name]) if name in members else None
            if member and isinstance(member.value, dict) and member.value.get("readOnly") is True:
                message = f"{name!r} is required and readOnly; requests need not have it."
                yield diagnostic("required-read-only", member.pointer, message)


_LARGEST = 2_000_000
"""Largest file, in bytes, whose line numbers are looked up, as that takes longer than reading it."""

_MERGE = "tag:yaml.org,2002:merge"


class Lines:
    """Finds the line numbers of JSON pointers in a YAML or JSON file."""

    def __init__(self, path: Path) -> None:
        self._root: yaml.Node | None = None
        if path.is_file() and path.stat().st_size <= _LARGEST:
            # JSON need not be YAML, as when it is indented by tabs
            with suppress(yaml.YAMLError, UnicodeDecodeError):
                self._root = yaml.compose(path.read_bytes(), yaml.CSafeLoader)

    def of(self, pointer: str) -> int | None:
        """Returns the line of a pointer's value, or of the closest parent found; None if unknown."""
        node = self._root
        if node is None:
            return None
        line = 1
        for step in steps_of(pointer):
            match node:
                case yaml.MappingNode():
                    pair = next(_pairs(node, step), None)
                    if pair is None:
                        return line
                    line, node = pair[0].start_mark.line + 1, pair[1]
                case yaml.SequenceNode() if step.isdecimal() and int(step) < len(node.value):
                    node = node.value[int(step)]
                    line = node.start_mark.line + 1
                case _:
                    return line
        return line


def _pairs(node: yaml.Node, name: str) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Yields the members with a name in a mapping, and then in the mappings merged into it (``<<``)."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _pairs(item, name)
    if isinstance(node, yaml.MappingNode):
        yield from (pair for pair in node.value if pair[0].value == name)
        for key, value in node.value:
            if key.tag == _MERGE:
                yield from _pairs(value, name)


class LintEntry(msgspec.Struct, frozen=True):
    """One thing that is wrong with a document.

    Attributes:
        rule: Name of the rule, as the reference of `understudy lint` lists them.
        severity: `error` if a part of the document is not served as it was written.
        file: The file that has the place.
        line: Line of the place, counted from 1; null where it is not known.
        pointer: JSON pointer of the place in the file.
        message: What is wrong, and what is done instead.
    """

    rule: str
    severity: Severity
    file: str
    line: int | None
    pointer: str
    message: str


class LintReport(msgspec.Struct, frozen=True):
    """The report of `understudy lint --json`.

    Attributes:
        document: The document's file.
        errors: Number of entries with severity `error`.
        warnings: Number of entries with severity `warning`.
        diagnostics: All entries, by file and line.
    """

    document: str
    errors: int
    warnings: int
    diagnostics: list[LintEntry]


def lint_report(path: Path, diagnostics: Sequence[Diagnostic]) -> LintReport:
    """Returns the report on a document, with the file and the line of each diagnostic."""
    lines_of = cache(Lines)
    entries = []
    for rule, severity, pointer, message in diagnostics:
        file, place = _located(path, pointer)
        line = lines_of(file).of(place)
        entries.append(LintEntry(rule, severity, str(file), line, place, message))
    entries.sort(key=lambda entry: (entry.file, entry.line or 0))
    counts = Counter(entry.severity for entry in entries)
    return LintReport(str(path), counts["error"], counts["warning"], entries)


def report_schema() -> dict[str, Any]:
    """Returns the JSON Schema (2020-12) of the report."""
    return record_schema(LintReport, "The report of understudy lint")


def _located(path: Path, pointer: str) -> tuple[Path, str]:
    """Returns the file that a pointer leads into, and the pointer within that file."""
    steps = steps_of(pointer)
    if len(steps) > 1 and steps[0] == FILES:
        return path.parent / steps[1], "/".join(["#", *map(escape, steps[2:])])
    return path, pointer


_RANGES = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)
_UNBOUNDED = 2**31
"""Width that counts as unlimited; the pattern parser gives at least this for ``*`` and ``+``."""


def check_schema(schemas: Schemas, schema: Node) -> Iterator[Diagnostic]:
    """Yields the contradictions of one schema, without those of its subschemas."""
    if not isinstance(schema.value, dict):
        return
    try:
        schemas.compiler.expect_valid(schema)
    except StartupError as error:
        yield diagnostic("invalid-schema", schema.pointer, str(error).partition(": ")[2])
        return
    yield from _check_types(schemas, schema)
    yield from _check_ranges(schema)
    yield from _check_pattern(schema)
    yield from _check_values(schemas, schema)
    yield from _check_hint(schema)


def check_example(schemas: Schemas, schema: Node, example: Node) -> Iterator[Diagnostic]:
    """Yields a contradiction if an example breaks the schema that it illustrates."""
    try:
        error = next(schemas.validator(schema).iter_errors(example.value), None)
    except StartupError:  # the invalid schema is reported by check_schema
        return
    if error is not None:
        yield diagnostic("invalid-example", example.pointer, _broken("the example", error))


def _check_values(schemas: Schemas, schema: Node) -> Iterator[Diagnostic]:
    validator = schemas.validator(schema)
    for keyword, rule in _VALUES.items():
        node = schema.child(keyword)
        if node is None or (keyword in _LISTS and not isinstance(node.value, list)):
            continue
        for value in [it for _, it in node.children()] if keyword in _LISTS else [node]:
            error = next(validator.iter_errors(value.value), None)
            if error is not None:
                of = f"{shown(value.value)} of " if keyword in _LISTS else ""
                yield diagnostic(rule, value.pointer, _broken(f"{of}the {keyword}", error))


_VALUES: Final = {
    "default": "invalid-default",
    "example": "invalid-example",
    "enum": "invalid-enum",
    "examples": "invalid-example",
}
"""Keyword whose value must be valid against its own schema, to the rule that reports otherwise."""
_LISTS: Final = frozenset({"enum", "examples"})
"""The keywords among these that hold a list of values."""


def _check_hint(schema: Node) -> Iterator[Diagnostic]:
    hint = schema.child(FAKER_HINT)
    if hint is None or find_spec("faker") is None:
        return
    if not isinstance(hint.value, str) or provided(hint.value, "") is None:
        message = f"{shown(hint.value)} is no provider of Faker; write one, such as first_name."
        yield diagnostic("unknown-provider", hint.pointer, message)


def _broken(what: str, error: Any) -> str:
    at = "/".join(str(step) for step in error.instance_path)
    place = f" at {at}" if at else ""
    return f"{what} breaks the schema{place}: {error.message:.200}."


def _check_types(schemas: Schemas, schema: Node) -> Iterator[Diagnostic]:
    """Yields a contradiction for each value or member to which ``allOf`` leaves no type."""
    parts = list(schemas.parts(schema, ALL)) if "allOf" in schema.value else []
    applied = {"the value": parts}
    for name in schemas.members(schema, ALL) if parts else ():
        declared = (
            schemas.members(it, ()).get(name, it.child("additionalProperties")) for it in parts
        )
        members = [part for node in declared for part in schemas.parts(node, ALL)]
        applied[f"the member {name!r}"] = members
    for what, nodes in applied.items():
        typed = [schemas.types(node) for node in nodes if {"type", "enum", "const"} & {*node.value}]
        shared = [it | {"integer"} if "number" in it else it for it in typed]
        if typed and not frozenset.intersection(*shared):
            named = ", ".join(dict.fromkeys(" or ".join(sorted(it)) for it in typed))
            message = f"{what} would have to be all of: {named}."
            yield diagnostic("contradictory-types", schema.pointer, message)


def _check_ranges(schema: Node) -> Iterator[Diagnostic]:
    value = schema.value
    for lower, upper in _RANGES:
        least, most = value.get(lower), value.get(upper)
        if least is not None and most is not None and least > most:
            message = f"{lower} {least} is above {upper} {most}, so no value fits."
            yield diagnostic("empty-range", f"{schema.pointer}/{lower}", message)
    least, most = _bound(value, "Minimum"), _bound(value, "Maximum")
    if None not in (least, most) and least >= most:
        excludes = {"exclusiveMinimum", "exclusiveMaximum"} & set(value)
        if any(value[name] is not False for name in excludes):
            message = f"no number is above {least} and below {most}, one of them excluded."
            yield diagnostic("empty-range", schema.pointer, message)


def _bound(value: dict[str, Any], name: str) -> Any:
    """Returns a numeric bound; since OpenAPI 3.1 the exclusive keyword holds a number itself."""
    exclusive = value.get(f"exclusive{name}")
    is_number = exclusive is not None and not isinstance(exclusive, bool)
    return exclusive if is_number else value.get(name.lower())


def _check_pattern(schema: Node) -> Iterator[Diagnostic]:
    pattern = schema.value.get("pattern")
    if not isinstance(pattern, str):
        return
    shortest, longest = _widths(pattern)
    most = schema.value.get("maxLength", shortest)
    least = schema.value.get("minLength", 0)
    if shortest > most:
        message = (
            f"{pattern!r} matches no text of fewer than {shortest} characters; maxLength is {most}."
        )
        yield diagnostic("impossible-pattern", f"{schema.pointer}/pattern", message)
    if longest < least:
        message = (
            f"{pattern!r} matches no text of more than {longest} characters; minLength is {least}."
        )
        yield diagnostic("impossible-pattern", f"{schema.pointer}/pattern", message)


def _widths(pattern: str) -> tuple[int, int]:
    """Returns the length of the shortest and of the longest text that a pattern matches."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _parser.parse(pattern)
    except (re.error, OverflowError, RecursionError):
        return 0, _UNBOUNDED
    shortest, longest = parsed.getwidth()
    anchors = [str(where) for code, where in parsed.data if str(code) == "AT"]
    is_whole = anchors == ["AT_BEGINNING", "AT_END"]
    return shortest, longest if is_whole else _UNBOUNDED


_ILLUSTRATED = ("media type", "parameter", "header")
"""Kinds of objects that have a schema together with examples."""


def lint(document: Document) -> list[Diagnostic]:
    """Returns the losses and contradictions of a document without duplicates, losses first."""
    schemas = schemas_of(document)
    found = [*document.losses, *check_document(document, schemas), *_checked(document, schemas)]
    return list(dict.fromkeys(found))


def _checked(document: Document, schemas: Schemas) -> Iterator[Diagnostic]:
    """Yields the contradictions of every schema and example that the document reaches.

    The document is mended already; mending a copy again only tells the kind of each object.
    """
    for pointer, kind in mend(deepcopy(document.raw), None).units:
        if kind == "schema":
            yield from check_schema(schemas, Node(pointer, value_at(document.raw, pointer)))
        elif kind in _ILLUSTRATED:
            yield from _illustrated(document, schemas, pointer, kind)


def _illustrated(
    document: Document, schemas: Schemas, pointer: str, kind: str
) -> Iterator[Diagnostic]:
    owner = document.follow(Node(pointer, value_at(document.raw, pointer)))
    schema = owner.child("schema")
    if schema is None:
        if kind == "media type" and "itemSchema" not in owner.value:
            message = "this media type has no schema, so any body is taken."
            yield diagnostic("missing-schema", owner.pointer, message)
        return
    is_json = kind != "media type" or "json" in steps_of(pointer)[-1]
    for _, example in examples_of(document, owner):
        # a text is the body as it is sent, which a schema describes once it is parsed
        if is_json or not isinstance(example.value, str):
            yield from check_example(schemas, schema, example)
