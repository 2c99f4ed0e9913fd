"""Compiles the schemas of a document with jsonschema-rs, each when it first validates a value.

The dialect of OpenAPI 3.0 differs from JSON Schema Draft 7 (``nullable``, boolean
``exclusiveMinimum``), and is translated to it in place, so that JSON pointers into the document stay
valid. OpenAPI 3.1 uses JSON Schema 2020-12.

A compiled schema contains a copy of all schemas that it refers to. With recursive schemas that is
nearly the whole document, for each of a thousand operations: gigabytes. So a document with many
references is split: a custom keyword in place of each reference looks the other schema up during
validation, and only the most recently used compiled schemas are kept.

Schemas that contain one another in several cycles are split, too: jsonschema-rs follows every path
through them even for a scalar, which does not finish for seven schemas that each contain all others.
The custom keyword validates a value by each schema once.
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
    size_of,
    steps_of,
    value_at,
)

MOST_REFERENCES: Final = 500
"""A document with more references than this is split."""

MOST_COMPILED: Final = 200
"""Compiled schemas that are kept of a split document; each takes about 40 kB."""

_MOST_ALTERNATIVES: Final = 50
"""Alternatives whose errors are listed, as each may have to be compiled for that."""

_FEW_LEVELS: Final = 3
"""Levels of nesting at which listing errors is fast for any schema."""

_REFERENCE: Final = "x-understudy-reference"
_URI: Final = "urn:understudy:document"
_UUID = re.compile("[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_FORMATS: dict[str, Callable[[str], bool]] = {"uuid": lambda text: bool(_UUID.fullmatch(text))}
"""Formats that OpenAPI 3.0 documents use and Draft 7 lacks."""
_NULL = {"type": "null"}
_OPEN: Final = jsonschema_rs.Draft202012Validator({})
_UNEVALUATED: Final = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_COUNTED: Final = frozenset({"$ref", *_UNEVALUATED})


class _PlacedError(NamedTuple):
    """A validation error whose paths start at the root of the value and of the document."""

    message: str
    instance_path: Sequence[str | int]
    schema_path: Sequence[str | int]
    kind: Any
    instance: Any


class Unfitting(NamedTuple):
    """The reasons why a value fits none of the alternatives of a schema, in a split document.

    Attributes:
        name: The kind of the error, as jsonschema-rs names it.
        context: The validation errors of each alternative.
    """

    name: str
    context: Sequence[Sequence["SchemaError"]]


NO_ALTERNATIVE: Final = (
    Unfitting,
    jsonschema_rs.ValidationErrorKind.AnyOf,
    jsonschema_rs.ValidationErrorKind.OneOfNotValid,
)
"""Kinds of errors that have the errors of each alternative as ``context``."""

SchemaError = _PlacedError | jsonschema_rs.ValidationError
"""A validation error: a message, and its paths in the value and in the document."""


def _unlisted(pointer: str, value: Any, why: str) -> SchemaError:
    """Returns the single error of an invalid value whose errors are not listed one by one."""
    message = f"it breaks its schema, and {why} to say where"
    return _PlacedError(message, [], steps_of(pointer), SimpleNamespace(name="nested"), value)


_MOST_VALUES: Final = 100_000
"""Largest number of values in a value whose errors are listed, as each error copies its part."""


_Place = tuple[str | int, ...]
"""Path of a part within a value."""


class SchemaValidator:
    """Validates values by one schema, which is compiled at the first call.

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
        if not self._compiler.is_split:  # never evicted from the cache: skip the lookup from now on
            self.is_valid = compiled.is_valid
        return compiled.is_valid(value)

    def iter_errors(self, value: Any) -> Iterator[SchemaError]:
        """Yields the errors of a value.

        Raises:
            ValueError: The value is nested too deeply for jsonschema-rs.
        """
        why = ""
        if size_of(value, _MOST_VALUES) > _MOST_VALUES:
            why = "is too large"
        elif self._compiler.is_endless(self._pointer, value):
            why = "is nested too deeply"
        if why:
            is_valid = self.is_valid(value)
            return iter(() if is_valid else [_unlisted(self._pointer, value, why)])
        if self._compiler.is_split:
            return self.errors_at(value, (), {(self._pointer, ())})
        errors = self._compiler.compiled(self._pointer).iter_errors(value)
        return self._readable(errors) if self._compiler.has_bounded_patterns else errors

    def _readable(self, errors: Iterator[jsonschema_rs.ValidationError]) -> Iterator[SchemaError]:
        """Yields errors whose messages show the patterns of the document."""
        for error in errors:
            message = unbounded(error.message)
            yield _PlacedError(
                message, error.instance_path, error.schema_path, error.kind, error.instance
            )

    def errors_at(
        self, value: Any, at: _Place, listed: set[tuple[str, _Place]]
    ) -> Iterator[SchemaError]:
        """Yields the errors of a value with paths from the root, those behind references included.

        Args:
            value: The value.
            at: Path of the value within the whole value.
            listed: Schema pointers and paths whose errors were listed before; extended.
        """
        yield from self._rebased(
            self._compiler.compiled(self._pointer).iter_errors(value), at, listed
        )

    def _rebased(
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
                if isinstance(kind, NO_ALTERNATIVE):  # ``listed`` ends a recursion of alternatives
                    alternatives = kind.context[:_MOST_ALTERNATIVES]
                    context = [list(self._rebased(it, at, listed)) for it in alternatives]
                    kind = Unfitting(kind.name, context)
                message = unbounded(error.message)
                yield _PlacedError(message, list(place), path, kind, error.instance)
                continue
            pointer = self._compiler.target_of(path[:-1])
            if (pointer, place) not in listed:
                listed.add((pointer, place))
                yield from self._compiler.at(pointer).errors_at(error.instance, place, listed)


class _Judgements(local):
    """Results of the reference keyword during the validation of one value, per thread.

    Attributes:
        results: Schema pointer and text of a value to whether the schema accepts the value.
    """

    def __init__(self) -> None:
        self.results: dict[tuple[str, str], bool] = {}


class Compiler:
    """Compiles schemas of one document.

    Attributes:
        is_split: Whether references are looked up during validation, and not compiled in.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._validators: dict[str, SchemaValidator] = {}
        self._composition = Composition(document.follow)
        self._invalid: dict[str, StartupError] = {}
        self._branches: dict[str, int] = {}
        self._judgements = _Judgements()
        self._bounded: set[str] = set()
        """Pointers of schemas that ``expect_bounded`` has accepted, with all of their parts."""

    def validator(self, schema: Node) -> SchemaValidator:
        """Returns the validator of a schema, or of the one that it only refers to; cached by pointer."""
        known = self._validators.get(schema.pointer)
        if known is None:
            target = self._referenced(schema)
            known = (
                SchemaValidator(self, schema.pointer) if target is None else self.validator(target)
            )
            self._validators[schema.pointer] = known
        return known

    def _referenced(self, schema: Node) -> Node | None:
        """Returns the target of a schema that is a reference and nothing else; None for others."""
        if not (isinstance(schema.value, dict) and schema.value.keys() == {"$ref"}):
            return None
        with suppress(StartupError):  # compiling the schema reports the broken reference
            return self._document.follow(schema)
        return None

    def expect_bounded(self, schema: Node) -> None:
        """Expects a schema that can be validated in reasonable time; does not compile it.

        Raises:
            StartupError: The schema, or a part of it, is composed of too many schemas.
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
            with suppress(StartupError):  # compiling the schema reports the broken reference
                pending.append(self._document.follow(part))
            pending += _within(part)
        self._bounded |= seen

    def expect_valid(self, schema: Node) -> None:
        """Expects a schema that can be compiled.

        Raises:
            StartupError: The schema is invalid, or composed of too many; the text says where and why.
        """
        self.compiled(schema.pointer)
        if schema.pointer in self._invalid:
            raise self._invalid[schema.pointer]

    def is_endless(self, pointer: str, value: Any) -> bool:
        """Tells whether listing the errors of a value would take too long.

        Validity alone is found quickly. But for each alternative of a recursive schema,
        jsonschema-rs lists the errors of all alternatives below it, and so on.
        """
        levels = levels_of(value, JSON_DEPTH.most)
        return levels > _FEW_LEVELS and self._branching(pointer) ** levels > COMPOSED_SCHEMAS.most

    def _branching(self, pointer: str) -> int:
        """Returns the largest number of alternatives in recursive schemas; 1 if none is recursive."""
        known = self._branches.get(pointer)
        if known is not None:
            return known
        graph: dict[str, set[str]] = {}
        pending, most = [pointer], 1
        while pending:
            place = pending.pop()
            if place not in graph:
                with suppress(LookupError):
                    graph[place], alternatives = _references_of(value_at(self._document.raw, place))
                    most = max(most, alternatives)
                    pending += graph[place]
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            return self._branches.setdefault(pointer, most)
        return self._branches.setdefault(pointer, 1)

    @cached_property
    def compiled(self) -> Callable[[str], jsonschema_rs.Validator]:
        """Compiles the schema at a pointer; cached. An invalid schema, as lint reports, accepts all."""
        return lru_cache(maxsize=MOST_COMPILED if self.is_split else None)(self._compiled)

    @cached_property
    def is_split(self) -> bool:
        """True if references are looked up during validation.

        Excluded with ``unevaluated…`` keywords, which need the annotations of referenced schemas.
        """
        counts = _counts(self._document.raw)
        is_many = counts["$ref"] > MOST_REFERENCES
        return (is_many or bool(self._knots)) and not counts.keys() & _UNEVALUATED

    @cached_property
    def _knots(self) -> frozenset[str]:
        """Pointers of the schemas in which several cycles of composition meet."""
        return knots(self._document.raw)

    @cached_property
    def _keywords(self) -> dict[str, Any]:
        return {_REFERENCE: _reference_keyword(self)}

    @cached_property
    def _formats(self) -> dict[str, Callable[[str], bool]] | None:
        """The formats that Draft 7 lacks; None if the document uses none.

        Custom formats make every validation a quarter slower, even of schemas without them.
        """
        return _FORMATS if self._document.is_30 and "'uuid'" in repr(self._document.raw) else None

    @cached_property
    def _registry(self) -> jsonschema_rs.Registry:
        """The document in translated form, by which compiled schemas resolve references."""
        draft = jsonschema_rs.Draft7 if self._document.is_30 else jsonschema_rs.Draft202012
        return jsonschema_rs.Registry([(_URI, self._translated(self._document.raw))], draft=draft)

    @cached_property
    def has_bounded_patterns(self) -> bool:
        """True if the document has a pattern that is not applied to long texts."""
        patterns = (it.get("pattern") for it in objects_in(self._document.raw))
        return any(isinstance(it, str) and backtracks(it) for it in patterns)

    def _translated(self, written: Any) -> Any:
        """Returns a part of the document in the form that is compiled; pointers stay valid."""
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
        """Returns a schema with references replaced by the custom keyword."""
        written = value_at(self._document.raw, pointer)
        rewrite = partial(_with_reference_keyword, is_30=self._document.is_30)
        return _rewritten(self._translated(written), rewrite)

    def accepts(self, pointer: str, value: Any) -> bool:
        """Tells whether a referenced schema accepts a value; remembered while a knot is validated."""
        if not self._knots:
            return self.at(pointer).is_valid(value)
        judged, key = self._judgements.results, (pointer, repr(value))
        if key in judged:
            return judged[key]
        is_outermost = not judged
        judged[key] = True  # a recursive occurrence of the schema adds no condition
        try:
            is_accepted = judged[key] = self.at(pointer).is_valid(value)
        finally:
            if is_outermost:
                judged.clear()
        return is_accepted

    def at(self, pointer: str) -> SchemaValidator:
        """Returns the validator of the schema at a pointer."""
        return self.validator(Node(pointer, None))

    def target_of(self, path: Sequence[str | int]) -> str:
        """Returns the pointer that the schema at a path refers to."""
        schema: Any = self._document.raw
        for step in path:
            if "$ref" in schema:  # the next steps exist only in the translation of ``nullable``
                break
            schema = schema[int(step) if isinstance(schema, list) else step]
        return unquote(schema["$ref"])


def _within(schema: Node, *, has_names: bool = False) -> Iterator[Node]:
    """Yields the nodes directly within a schema that may be schemas."""
    if not isinstance(schema.value, dict | list):
        return
    for key, part in schema.children():
        if has_names or key not in LITERALS:
            is_nested = isinstance(part.value, list) or (key in NAME_MAPS and not has_names)
            yield from _within(part, has_names=True) if is_nested else (part,)


def _reference_keyword(compiler: Compiler) -> type:
    """Returns the custom keyword of jsonschema-rs that validates by the schema referred to."""
    weak = proxy(compiler)  # jsonschema-rs holds the class: a cycle that Python cannot collect

    class Reference:
        def __init__(self, _schema: Any, reference: str, _path: Any) -> None:
            self._pointer = unquote(reference)

        def validate(self, value: Any) -> None:
            if not weak.accepts(self._pointer, value):
                raise ValueError

        def iter_errors(self, value: Any) -> Iterator[ValueError]:
            if not weak.accepts(self._pointer, value):
                # replaced by the errors of the target (``_rebased``)
                yield ValueError(self._pointer)

    return Reference


def _rewritten(
    value: Any, rewrite: Callable[[dict[str, Any]], Any], *, has_names: bool = False
) -> Any:
    """Returns a copy in which each schema is rewritten, inner ones first; data is not touched.

    Args:
        value: A part of a document.
        rewrite: Returns the replacement of a schema; may modify its argument.
        has_names: Whether the members of the value are names chosen by the author, not keywords.
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
    """Returns a schema with its reference replaced by the custom keyword."""
    if not isinstance(schema.get("$ref"), str):
        return schema
    reference = {_REFERENCE: schema.pop("$ref")}
    return reference if is_30 else {**schema, **reference}  # Draft 7 ignores siblings of $ref


def _references_of(schema: Any) -> tuple[set[str], int]:
    """Returns the pointers that a schema refers to, and its most alternatives with references."""
    parts = list(objects_in(schema))
    references = (part["$ref"] for part in parts if isinstance(part.get("$ref"), str))
    listed = (it for part in parts for it in map(part.get, COMPOSING) if isinstance(it, list))
    most = max((sum("$ref" in str(one) for one in it) for it in listed), default=0)
    return {unquote(it) for it in references}, max(most, 1)


def _counts(raw: Any) -> Counter[str]:
    """Counts the references of a document, and its ``unevaluated…`` keywords."""
    return Counter(name for it in objects_in(raw) for name in _COUNTED & it.keys())


def in_draft_7(value: Any) -> Any:
    """Returns a part of a document with the keywords of OpenAPI 3.0 translated to Draft 7."""
    return _rewritten(value, _bounds_and_null)


def _with_bounded_pattern(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns a schema whose pattern accepts texts that are too long for backtracking."""
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
    """Returns a schema that accepts null too, by changing only the keywords that would refuse it.

    ``{"anyOf": [schema, {"type": "null"}]}`` would change the JSON pointers of all its members.
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
