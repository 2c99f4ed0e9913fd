"""Compiles the schemas of a document with jsonschema-rs, each when it first judges a value.

OpenAPI 3.0 has a dialect of its own; what differs from JSON Schema Draft 7 (``nullable``,
boolean ``exclusiveMinimum``) is translated to Draft 7, in place, so that every JSON pointer
into the document still holds. 3.1 is JSON Schema 2020-12.

A compiled schema contains a copy of all that it refers to. In a document whose schemas refer to one
another in circles that is nearly all of it, for each of a thousand operations: gigabytes. So where a
document has many references, each of them is a keyword that asks for the other schema when a value
comes to it, and only the newest of the compiled schemas are kept.

Schemas that are composed of one another in several circles are judged through that keyword, too:
jsonschema-rs follows every path through them for a text or a number, which does not end for seven
schemas that are each composed of all others. The keyword judges a value by each schema once.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from graphlib import CycleError, TopologicalSorter
from threading import local
from types import SimpleNamespace
from typing import Any, Final, NamedTuple
from urllib.parse import unquote
from weakref import proxy

import jsonschema_rs

from understudy.errors import StartupError
from understudy.limits import COMPOSED_SCHEMAS, JSON_DEPTH
from understudy.openapi.composition import COMPOSING, Composition, knots
from understudy.openapi.loader import LITERALS, NAME_MAPS, Document, Node
from understudy.openapi.patterns import BACKTRACKING, backtracks, bounded, unbounded
from understudy.openapi.pointers import (
    as_reference,
    levels_of,
    objects_in,
    steps_of,
    value_at,
)

MOST_REFERENCES: Final = 500
"""References of a document whose compiled schemas contain what they refer to."""

MOST_COMPILED: Final = 200
"""Compiled schemas that are kept of a document with more references; each takes some 40 kB."""

_MOST_ALTERNATIVES: Final = 50
"""Alternatives of a schema that are asked why a value does not fit; each may have to be compiled."""

_FEW_LEVELS: Final = 3
"""Levels of a value that no schema takes long for."""

_REFERENCE: Final = "x-understudy-reference"
_URI: Final = "urn:understudy:document"
_UUID = re.compile("[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_FORMATS: dict[str, Callable[[str], bool]] = {"uuid": lambda text: bool(_UUID.fullmatch(text))}
"""Formats that documents in 3.0 use, and Draft 7 lacks."""
_NULL = {"type": "null"}
_OPEN: Final = jsonschema_rs.Draft202012Validator({})
_UNEVALUATED: Final = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_COUNTED: Final = frozenset({"$ref", *_UNEVALUATED})


class _PlacedError(NamedTuple):
    """An error of a schema that another one refers to, at its place in the whole value."""

    message: str
    instance_path: Sequence[str | int]
    schema_path: Sequence[str | int]
    kind: Any
    instance: Any


class Unfitting(NamedTuple):
    """Why a value fits none of the alternatives of a schema, in a document that is split.

    Attributes:
        name: The kind of the error, as jsonschema-rs names it.
        context: The errors of each alternative.
    """

    name: str
    context: Sequence[Sequence["SchemaError"]]


NO_ALTERNATIVE: Final = (
    Unfitting,
    jsonschema_rs.ValidationErrorKind.AnyOf,
    jsonschema_rs.ValidationErrorKind.OneOfNotValid,
)
"""Kinds of an error that say why each alternative is none; each has a ``context``."""

SchemaError = _PlacedError | jsonschema_rs.ValidationError
"""A breach of a schema by a value: what is wrong, and its places in the value and in the document."""


def _unlisted(pointer: str, value: Any, why: str) -> SchemaError:
    """Returns the error of a value whose faults are not listed."""
    message = f"it breaks its schema, and {why} to say where"
    return _PlacedError(message, [], steps_of(pointer), SimpleNamespace(name="nested"), value)


_MOST_VALUES: Final = 100_000
"""Values within one whose faults are listed: each error holds a copy of what it is about, and a text of it."""


def _is_large(value: Any) -> bool:
    """Tells whether a value of JSON has too many values in it to list its faults."""
    count, pending = 0, [value]
    for each in pending:
        members = each.values() if isinstance(each, dict) else each
        if isinstance(each, dict | list):
            count += len(members)
            if count > _MOST_VALUES:
                return True
            pending += members
    return False


_Place = tuple[str | int, ...]
"""Steps into a value."""


class SchemaValidator:
    """Validates values by one schema, which is compiled for the first of them.

    Attributes:
        is_valid: Tells whether the schema accepts a value.
    """

    __slots__ = ("_compiler", "_pointer", "is_valid")

    def __init__(self, compiler: "Compiler", pointer: str) -> None:
        self._compiler = compiler
        self._pointer = pointer
        self.is_valid: Callable[[Any], bool] = self._is_valid

    def _is_valid(self, value: Any) -> bool:
        compiled = self._compiler.compiled(self._pointer)
        if (
            not self._compiler.is_split
        ):  # nothing of it is ever dropped, so nothing has to look it up
            self.is_valid = compiled.is_valid
        return compiled.is_valid(value)

    def iter_errors(self, value: Any) -> Iterator[SchemaError]:
        """Yields what the schema says against a value.

        Raises:
            ValueError: The value is nested too deeply.
        """
        why = ""
        if _is_large(value):
            why = "is too large"
        elif self._compiler.is_endless(self._pointer, value):
            why = "is nested too deeply"
        if why:
            is_valid = self.is_valid(value)
            return iter(() if is_valid else [_unlisted(self._pointer, value, why)])
        if self._compiler.is_split:
            return self.placed(value, (), {(self._pointer, ())})
        errors = self._compiler.compiled(self._pointer).iter_errors(value)
        return self._readable(errors) if self._compiler.has_bounded_patterns else errors

    def _readable(self, errors: Iterator[jsonschema_rs.ValidationError]) -> Iterator[SchemaError]:
        """Yields errors with the patterns of the document."""
        for error in errors:
            message = unbounded(error.message)
            yield _PlacedError(
                message, error.instance_path, error.schema_path, error.kind, error.instance
            )

    def placed(
        self, value: Any, at: _Place, listed: set[tuple[str, _Place]]
    ) -> Iterator[SchemaError]:
        """Yields errors at their places in the document, those of references from where they lead.

        Args:
            value: The value.
            at: Its place in the whole value.
            listed: The schemas, each with a place, of which all is said already.
        """
        yield from self._placed(
            self._compiler.compiled(self._pointer).iter_errors(value), at, listed
        )

    def _placed(
        self,
        errors: Iterable[SchemaError],
        at: _Place,
        listed: set[tuple[str, _Place]],
    ) -> Iterator[SchemaError]:
        for error in errors:
            path = [*steps_of(self._pointer), *error.schema_path]
            place = (*at, *error.instance_path)
            if path[-1] != _REFERENCE:
                kind: Any = error.kind
                if isinstance(kind, NO_ALTERNATIVE):  # of a circle of them, each is listed once
                    each = kind.context[:_MOST_ALTERNATIVES]
                    context = [list(self._placed(it, at, listed)) for it in each]
                    kind = Unfitting(kind.name, context)
                message = unbounded(error.message)
                yield _PlacedError(message, list(place), path, kind, error.instance)
                continue
            pointer = self._compiler.referring(path[:-1])
            if (pointer, place) not in listed:
                listed.add((pointer, place))
                yield from self._compiler.at(pointer).placed(error.instance, place, listed)


class _Judgements(local):
    """Keeps what the schemas of references say of the values within one that is being judged.

    Attributes:
        made: Pointer and value to whether the schema accepts it.
    """

    def __init__(self) -> None:
        self.made: dict[tuple[str, str], bool] = {}


class Compiler:
    """Compiles schemas of one document.

    Args:
        document: The document.

    Attributes:
        is_split: Whether references are followed only when a value comes to them.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._validators: dict[str, SchemaValidator] = {}
        self._composition = Composition(document.follow)
        self._invalid: dict[str, StartupError] = {}
        self._branches: dict[str, int] = {}
        self._judgements = _Judgements()
        self._bounded: set[str] = set()
        """Pointers of schemas of which no part, however deep, is composed of too many."""

    def validator(self, schema: Node) -> SchemaValidator:
        """Returns the validator of a schema; the same one for the same place."""
        known = self._validators.get(schema.pointer)
        if known is None:
            known = self._validators[schema.pointer] = SchemaValidator(self, schema.pointer)
        return known

    def expect_bounded(self, schema: Node) -> None:
        """Accepts a schema that no value takes too long for; it is not compiled for that.

        Raises:
            StartupError: It is composed of too many schemas.
        """
        seen: set[str] = set()
        pending = [schema]
        while pending:
            part = pending.pop()
            if part.pointer in self._bounded or part.pointer in seen:
                continue
            seen.add(part.pointer)
            composed = self._composition.count(part)
            if part.pointer in self._knots and not self.is_split:
                msg = (
                    f"{self._document.path}: {part.pointer} is composed of itself in several ways, "
                    "beside unevaluated members. Let no schema contain one that it is part of."
                )
                raise StartupError(msg)
            if composed > COMPOSED_SCHEMAS.most:
                msg = (
                    f"{self._document.path}: {part.pointer} is composed of {composed:,} schemas; "
                    f"{COMPOSED_SCHEMAS.exceeded().message} Nest allOf, anyOf and oneOf less."
                )
                raise StartupError(msg)
            with suppress(StartupError):  # the compiler says what a reference lacks
                pending.append(self._document.follow(part))
            pending += _within(part)
        self._bounded |= seen

    def expect_valid(self, schema: Node) -> None:
        """Accepts a schema that can be compiled.

        Raises:
            StartupError: It is invalid, or composed of too many; the text says where and why.
        """
        self.compiled(schema.pointer)
        if schema.pointer in self._invalid:
            raise self._invalid[schema.pointer]

    def is_endless(self, pointer: str, value: Any) -> bool:
        """Tells whether it would take too long to say how a value breaks a schema.

        Whether it does is known at once; but for each alternative of a schema that contains itself
        jsonschema-rs lists what breaks each alternative of the parts, and so on.
        """
        levels = levels_of(value, JSON_DEPTH.most)
        return levels > _FEW_LEVELS and self._branching(pointer) ** levels > COMPOSED_SCHEMAS.most

    def _branching(self, pointer: str) -> int:
        """Returns how many alternatives there are at most within schemas that contain themselves."""
        known = self._branches.get(pointer)
        if known is not None:
            return known
        graph: dict[str, set[str]] = {}
        pending, most = [pointer], 1
        while pending:
            place = pending.pop()
            if place not in graph:
                with suppress(LookupError):
                    graph[place], alternatives = _referring(value_at(self._document.raw, place))
                    most = max(most, alternatives)
                    pending += graph[place]
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            return self._branches.setdefault(pointer, most)
        return self._branches.setdefault(pointer, 1)

    @cached_property
    def compiled(self) -> Callable[[str], jsonschema_rs.Validator]:
        """Returns the compiled schema of a place; of an invalid one, which lint reports, any value."""
        return lru_cache(maxsize=MOST_COMPILED if self.is_split else None)(self._compiled)

    @cached_property
    def is_split(self) -> bool:
        """False where unevaluated members depend on what a reference says of them."""
        counts = _counts(self._document.raw)
        is_many = counts["$ref"] > MOST_REFERENCES
        return (is_many or bool(self._knots)) and not counts.keys() & _UNEVALUATED

    @cached_property
    def _knots(self) -> frozenset[str]:
        """Pointers of the schemas where several circles of schemas meet that apply to one value."""
        return knots(self._document.raw)

    @cached_property
    def _keywords(self) -> dict[str, Any]:
        return {_REFERENCE: _reference_keyword(self)}

    @cached_property
    def _formats(self) -> dict[str, Callable[[str], bool]] | None:
        """The formats that Draft 7 lacks, where the document may name one.

        A validator that has formats of ours takes a quarter longer, whether a schema names them or not.
        """
        return _FORMATS if self._document.is_30 and "'uuid'" in repr(self._document.raw) else None

    @cached_property
    def _registry(self) -> jsonschema_rs.Registry:
        """The document, as compiled schemas follow its references."""
        draft = jsonschema_rs.Draft7 if self._document.is_30 else jsonschema_rs.Draft202012
        return jsonschema_rs.Registry([(_URI, self._translated(self._document.raw))], draft=draft)

    @cached_property
    def has_bounded_patterns(self) -> bool:
        """True where the document has a pattern that long texts are not held to."""
        patterns = (it.get("pattern") for it in objects_in(self._document.raw))
        return any(isinstance(it, str) and backtracks(it) for it in patterns)

    def _translated(self, written: Any) -> Any:
        """Returns a part of the document as it is compiled; its pointers still hold."""
        content = in_draft_7(written) if self._document.is_30 else written
        return _rewritten(content, _with_bounded_pattern) if self.has_bounded_patterns else content

    def _compiled(self, pointer: str) -> jsonschema_rs.Validator:
        try:
            self.expect_bounded(Node(pointer, value_at(self._document.raw, pointer)))
            return self._compile(pointer)
        except StartupError as error:
            self._invalid[pointer] = error
            return _OPEN

    def _compile(self, pointer: str) -> jsonschema_rs.Validator:
        is_30 = self._document.is_30
        compiler = jsonschema_rs.Draft7Validator if is_30 else jsonschema_rs.Draft202012Validator
        try:
            if not self.is_split:
                return compiler(
                    {"$ref": _URI + as_reference(pointer)},
                    registry=self._registry,
                    validate_formats=True,
                    formats=self._formats,
                    pattern_options=BACKTRACKING,
                )
            return compiler(
                self._split(pointer),
                validate_formats=True,
                formats=self._formats,
                keywords=self._keywords,
                pattern_options=BACKTRACKING,
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            reason = getattr(error, "message", error)
            msg = f"{self._document.path}: {pointer} is not a schema: {reason}."
            raise StartupError(msg) from error

    def _split(self, pointer: str) -> Any:
        """Returns a schema in which the keyword of ours stands for references."""
        written = value_at(self._document.raw, pointer)
        rewrite = partial(_with_reference_keyword, is_30=self._document.is_30)
        return _rewritten(self._translated(written), rewrite)

    def accepts(self, pointer: str, value: Any) -> bool:
        """Tells whether the schema that a reference leads to accepts a value; asked twice, at once."""
        if not self._knots:
            return self.at(pointer).is_valid(value)
        judged, key = self._judgements.made, (pointer, repr(value))
        if key in judged:
            return judged[key]
        is_outermost = not judged
        judged[key] = True  # within itself a schema adds nothing
        try:
            is_accepted = judged[key] = self.at(pointer).is_valid(value)
        finally:
            if is_outermost:
                judged.clear()
        return is_accepted

    def at(self, pointer: str) -> SchemaValidator:
        """Returns the validator of the schema at a place."""
        return self.validator(Node(pointer, None))

    def referring(self, path: Sequence[str | int]) -> str:
        """Returns where the schema at a place refers to."""
        schema: Any = self._document.raw
        for step in path:
            if "$ref" in schema:  # what follows are the alternatives that a nullable one became
                break
            schema = schema[int(step) if isinstance(schema, list) else step]
        return unquote(schema["$ref"])


def _within(schema: Node, *, has_names: bool = False) -> Iterator[Node]:
    """Yields what may be a schema directly within one."""
    if not isinstance(schema.value, dict | list):
        return
    for key, part in schema.children():
        if has_names or key not in LITERALS:
            is_nested = isinstance(part.value, list) or (key in NAME_MAPS and not has_names)
            yield from _within(part, has_names=True) if is_nested else (part,)


def _reference_keyword(compiler: Compiler) -> type:
    """Returns the keyword that judges by what a reference leads to, as jsonschema-rs calls it."""
    weak = proxy(compiler)  # jsonschema-rs keeps the class, and Python cannot see that circle

    class Reference:
        def __init__(self, _schema: Any, reference: str, _path: Any) -> None:
            self._pointer = unquote(reference)

        def validate(self, value: Any) -> None:
            if not weak.accepts(self._pointer, value):
                raise ValueError

        def iter_errors(self, value: Any) -> Iterator[ValueError]:
            if not weak.accepts(self._pointer, value):
                yield ValueError(self._pointer)  # whose errors are listed in its place

    return Reference


def _rewritten(
    value: Any, rewrite: Callable[[dict[str, Any]], Any], *, has_names: bool = False
) -> Any:
    """Returns a copy in which each schema is rewritten, those within it first; data stays as it is.

    Args:
        value: A part of a document.
        rewrite: Returns what stands for a schema, which is a copy.
        has_names: Whether the members of the value are names and no keywords.
    """
    if isinstance(value, list):
        return [_rewritten(item, rewrite) for item in value]
    if not isinstance(value, dict):
        return value
    members = {
        k: v
        if k in LITERALS and not has_names
        else _rewritten(v, rewrite, has_names=not has_names and k in NAME_MAPS)
        for k, v in value.items()
    }
    return members if has_names else rewrite(members)


def _with_reference_keyword(schema: dict[str, Any], *, is_30: bool) -> dict[str, Any]:
    """Returns a schema in which the keyword of ours stands for its reference."""
    if not isinstance(schema.get("$ref"), str):
        return schema
    reference = {_REFERENCE: schema.pop("$ref")}
    return reference if is_30 else {**schema, **reference}  # Draft 7 has nothing beside them


def _referring(schema: Any) -> tuple[set[str], int]:
    """Returns where a schema refers to, and the most alternatives in it that refer to others."""
    parts = list(objects_in(schema))
    references = (part["$ref"] for part in parts if isinstance(part.get("$ref"), str))
    listed = (it for part in parts for it in map(part.get, COMPOSING) if isinstance(it, list))
    most = max((sum("$ref" in str(one) for one in it) for it in listed), default=0)
    return {unquote(it) for it in references}, max(most, 1)


def _counts(raw: Any) -> Counter[str]:
    """Counts the references of a document and the keywords that look through them."""
    return Counter(name for it in objects_in(raw) for name in _COUNTED & it.keys())


def in_draft_7(value: Any) -> Any:
    """Returns the document with OpenAPI 3.0's own keywords translated to Draft 7's."""
    return _rewritten(value, _bounds_and_null)


def _with_bounded_pattern(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns a schema whose pattern takes long texts where they would take long to match."""
    if isinstance(schema.get("pattern"), str):
        schema["pattern"] = bounded(schema["pattern"])
    return schema


def _bounds_and_null(schema: dict[str, Any]) -> dict[str, Any]:
    for bound in ("Minimum", "Maximum"):
        exclusive, inclusive = f"exclusive{bound}", bound.lower()
        if schema.get(exclusive) is True and inclusive in schema:
            schema[exclusive] = schema.pop(inclusive)
        elif isinstance(schema.get(exclusive), bool):
            del schema[exclusive]
    return _with_null(schema) if schema.pop("nullable", None) is True else schema


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns a schema that takes null too, by changing only the keywords that would refuse it.

    None of its members moves, as ``{"anyOf": [schema, {"type": "null"}]}`` would move them all.
    """
    if "$ref" in schema:
        return {"anyOf": [schema, _NULL]}
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    if None not in schema.get("enum", [None]):
        schema["enum"] = [*schema["enum"], None]
    if "allOf" in schema:
        schema["allOf"] = [_with_null(part) for part in schema["allOf"]]
    if "anyOf" in schema:
        schema["anyOf"] = [*schema["anyOf"], _NULL]
    if "oneOf" in schema:
        exactly_null = {**_NULL, "not": {"anyOf": schema["oneOf"]}}
        schema["oneOf"] = [*schema["oneOf"], exactly_null]
    return schema
