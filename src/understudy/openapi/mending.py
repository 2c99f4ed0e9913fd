"""Turns a document with mistakes into valid OpenAPI, as close to its author's intent as possible.

Real documents break OpenAPI in a few hundred small ways, and hardly one of them is a reason not to
serve the rest. So the tree is walked once by the grammar: references become pointers into one tree,
scalars are converted, missing members are added, and invalid ones are removed. Each change is
reported as a diagnostic. Readers, validators and other tools then get valid OpenAPI.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from understudy.openapi.diagnostics import Losses, Mended, Position
from understudy.openapi.grammar import MAPS, MEMBERS, NEEDED, OPENED, REFERENCED, REQUIRED
from understudy.openapi.mends import (
    NULLABLE,
    OBJECT_MENDS,
    SCALARS,
    add_missing,
    drop_nulls,
    fill,
    is_plain,
    mend_schema,
    note_unknown,
    read_scalar,
    read_scalars,
    shown,
)
from understudy.openapi.pointers import Scope, as_reference, steps_of, value_at
from understudy.openapi.references import (
    MAX_REFERENCES,
    References,
    Spreading,
    Unresolved,
    is_misplaced,
    is_reference,
)

_MOST_PARTS = 8  # schemas of nested allOf that are compared, as they multiply
_OF_OBJECTS = frozenset({"type", "properties", "required", "allOf"})  # all that is compared
_KIND = frozenset({"enum", "const"})
"""Keywords by which the value of a member tells the kind of its object."""
_EXAMPLES = frozenset({"example", "value", "dataValue"})
"""Members with a whole example."""
_TOP = 2
"""Slashes in the pointer of a map of components, such as ``#/components/schemas``."""
_ANNOTATIONS = {"title", "description", "example", "examples", "default", "externalDocs"}
_IDENTIFYING = ("$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema")
"""Keywords that are removed in the end, as no reference needs them once references are pointers."""


def mend(root: dict[str, Any], path: Path | None) -> Mended:
    """Mends a document in place.

    Args:
        root: The document's content.
        path: The document's file; None: do not read the files that it refers to.
    """
    walk = _Walk(root, path)
    walk.run()
    return walk.mended


class _Walk:
    """Walks over one document and mends it."""

    def __init__(self, root: dict[str, Any], path: Path | None) -> None:
        self._root = root
        self._losses = Losses(str(root["openapi"]))
        self.mended = Mended(self._losses.diagnostics)
        self._references = References(root, path)
        self._spreading = Spreading(root, self._references, self._losses)
        self._compositions = _Compositions(root, self._losses)
        self._resolved: dict[str, Position] = {}
        self._containers: set[str] = set()
        self._identified: list[dict[str, Any]] = []

    def run(self) -> None:
        """Mends everything that the document and its references reach."""
        document = Position({"#": self._root}, "#", "document", "#", Scope(), "#")
        self._spreading.spread_components(document.below("components", "components"))
        pending = [document]
        while pending:
            place = pending.pop()
            first = place.pointer, place.kind
            known = self.mended.units.get(first)
            if known is not None:
                self.mended.needs[place.unit].add(known)
            elif place.key in _keys(place.holder):
                self.mended.units[first] = place.unit
                pending += reversed(list(self._parts(place)))
        for place in self._resolved.values():
            self._expect_acyclic(place)
        self._compositions.mend()
        self._add_missing()
        for schema in self._identified:
            for keyword in _IDENTIFYING:
                schema.pop(keyword, None)

    def _add_missing(self) -> None:
        """Adds required members that mending has removed, without a second diagnostic."""
        for pointer, kind in self.mended.units:
            if kind in REQUIRED:
                with suppress(LookupError):  # mending removed the whole object
                    value = value_at(self._root, pointer)
                    if isinstance(value, dict) and "$ref" not in value:
                        add_missing(self._losses, value, kind)

    def _parts(self, place: Position) -> Iterator[Position]:
        """Mends a value, and yields the positions of its members or items."""
        kind = place.kind
        if is_misplaced(place) and not self._spreading.spread(place):
            return
        if kind in OBJECT_MENDS:
            OBJECT_MENDS[kind](self._losses, place)
        if kind in SCALARS:
            read_scalar(self._losses, place)
        elif kind[0] == "[":
            self._containers.add(place.pointer)
            yield from self._items(place)
        elif kind[0] == "{" or kind in MAPS:
            if kind != "callback":
                self._containers.add(place.pointer)
            yield from self._named(place)
        elif kind in MEMBERS:
            yield from self._object(place)

    def _items(self, place: Position) -> Iterator[Position]:
        kind = place.kind[1:-1]
        if not isinstance(place.value, list):
            message = f"{shown(place.value)} is not a list"
            self._losses.drop("wrong-type", place, message)
            return
        if kind in SCALARS:
            read_scalars(self._losses, place, kind)
            return
        fitting = [it for it in place.value if _fits(it, kind)]
        if len(fitting) < len(place.value):
            wrong = next(it for it in place.value if not _fits(it, kind))
            message = f"{shown(wrong)} is not of kind {kind}; it is left out."
            self._losses.note("wrong-type", place, message)
            place.value[:] = fitting
        yield from (place.below(number, kind) for number in range(len(place.value)))

    def _named(self, place: Position) -> Iterator[Position]:
        kind = MAPS.get(place.kind) or place.kind[1:-1]
        if place.value is None:
            self._losses.drop("null-member", place, "this is null")
            return
        if not isinstance(place.value, dict):
            self._losses.drop("wrong-type", place, f"{shown(place.value)} is not an object")
            return
        if place.kind == "callback" and "$ref" in place.value:
            yield from self._reference(place)
            if not _is_described(place):
                return
        is_component = (
            place.pointer.startswith("#/components/") and place.pointer.count("/") == _TOP
        )
        has_units = is_component or kind in {"path item", "operation"}
        for name in place.value:
            below = place.below(name, kind)
            if kind == "operation":
                self.mended.needs[below.pointer].add(place.unit)
            # elsewhere x- marks an extension; names of components and properties may begin so
            if place.kind[0] == "{" or not name.startswith("x-"):
                yield below._replace(unit=below.pointer) if has_units else below

    def _object(self, place: Position) -> Iterator[Position]:
        kind = place.kind
        if not self._is_object(place):
            return
        if kind == "schema":
            place = self._entered(place)
            mend_schema(self._losses, place)
            self._compositions.note(place)
        if kind in REFERENCED and "$ref" in place.value:
            yield from self._reference(place)
            if kind != "schema" and not _is_described(place):
                return
        if kind == "discriminator":
            yield from self._mapping(place)
        drop_nulls(self._losses, place)
        fill(self._losses, place)
        yield from self._members(place)

    def _is_object(self, place: Position) -> bool:
        kind = place.kind
        if place.value is None and kind in NULLABLE:
            place.replace({})
            self._losses.note("null-member", place, "this is null; read as an empty object.")
        if isinstance(place.value, dict):
            return True
        if not (kind == "schema" and isinstance(place.value, bool)):
            self._losses.drop("wrong-type", place, f"{shown(place.value)} is not an object")
        return False

    def _entered(self, place: Position) -> Position:
        """Returns a schema's position with the scope of its ``$id``, by which references resolve."""
        schema = place.value
        if any(keyword in schema for keyword in _IDENTIFYING):
            self._identified.append(schema)
        if isinstance(schema.get("$id"), str):
            scope = self._references.within(place.scope, schema["$id"], place.pointer)
            place = place._replace(scope=scope)
        if isinstance(schema.get("$dynamicRef"), str):
            self._make_static(place.below("$dynamicRef", "any"))
        return place

    def _make_static(self, at: Position) -> None:
        """Reads a dynamic reference as a static one (JSON Schema 2020-12, 8.2.3.2)."""
        schema, reference = at.holder, at.value
        del schema[at.key]
        schema.setdefault("$ref", reference)
        if not self._references.is_ambiguous(reference.lstrip("#"), at.scope):
            return
        meaning = "its own schema's"
        with suppress(Unresolved):
            target = self._references.resolve(reference, at.scope, at.pointer).pointer
            # a placeholder that refuses everything until a referring schema overrides it
            if "not" in value_at(self._root, target):
                del schema["$ref"]
                meaning = "any value"
        message = f"{reference!r} depends on who refers to the schema; read as {meaning}."
        self._losses.note("dynamic-reference", at, message)

    def _members(self, place: Position) -> Iterator[Position]:
        known = MEMBERS[place.kind]
        for name in list(place.value):
            kind = known.get(name)
            if kind is None:
                note_unknown(self._losses, place, name)
            elif kind == "operation":
                below = place.below(name, kind)
                self.mended.needs[below.pointer].add(place.unit)
                yield below._replace(unit=below.pointer)
            elif name in _EXAMPLES:
                self._spreading.copy_example(place.below(name, kind))
            elif kind != "any" and not is_plain(place.value[name], kind):
                yield place.below(name, kind)

    def _mapping(self, place: Position) -> Iterator[Position]:
        """Resolves the references in the mapping of a discriminator, and yields their targets."""
        mapping = place.value.get("mapping")
        for name, reference in list(mapping.items()) if isinstance(mapping, dict) else ():
            if isinstance(reference, str) and ("#" in reference or "." in reference):
                at = place.below("mapping", "any").below(name, "text")
                try:
                    target = self._references.resolve(reference, at.scope, at.pointer).pointer
                except Unresolved as error:
                    self._losses.drop("dangling-reference", at, str(error))
                else:
                    at.replace(as_reference(target))
                    yield self._position_at(target, "schema")

    def _reference(self, place: Position) -> Iterator[Position]:
        """Rewrites a reference as a pointer into the tree, and yields its target."""
        reference = place.value["$ref"]
        if not isinstance(reference, str):
            at = place.below("$ref", "any")
            self._losses.drop("wrong-type", at, f"{shown(reference)} is not a text")
            return
        try:
            target = self._references.resolve(reference, place.scope, place.pointer)
        except Unresolved as error:
            self._give_up(place, str(error))
            return
        if target.pointer in self._containers:
            self._give_up(place, f"$ref {reference!r} leads to what is not of kind {place.kind}")
            return
        if target.is_relative:
            message = f"$ref {reference!r} is not in the document; read as {target.pointer!r}."
            self._losses.note("relative-pointer", place, message)
        place.value["$ref"] = as_reference(target.pointer)  # a name may need percent-encoding
        self._resolved[place.pointer] = place
        self._references.rewritten.add(place.pointer)
        self.mended.needs[place.unit].add(target.pointer)
        yield self._position_at(target.pointer, place.kind)

    def _position_at(self, pointer: str, kind: str) -> Position:
        """Returns the position that a pointer leads to."""
        scope = self._references.scope_of(pointer)
        if pointer == "#":
            return Position({"#": self._root}, "#", kind, pointer, scope, pointer)
        around, _, _ = pointer.rpartition("/")
        holder, key = value_at(self._root, around), steps_of(pointer)[-1]
        return Position(
            holder, int(key) if isinstance(holder, list) else key, kind, pointer, scope, pointer
        )

    def _expect_acyclic(self, place: Position) -> None:
        """Gives up a reference that leads back to itself, or to a part that mending removed."""
        value = place.value
        for _ in range(MAX_REFERENCES):
            if not (isinstance(value, dict) and isinstance(value.get("$ref"), str)):
                return
            try:
                value = value_at(self._root, unquote(value["$ref"]))
            except LookupError:
                self._give_up(place, f"$ref {value['$ref']!r} leads to what was left out")
                return
        self._give_up(place, f"$ref {place.value['$ref']!r} leads back to itself")

    def _give_up(self, place: Position, reason: str) -> None:
        """Removes a reference that leads nowhere, so that its place accepts anything."""
        if place.kind in OPENED:
            self._losses.note("dangling-reference", place, f"{reason}; {OPENED[place.kind]}.")
            del place.value["$ref"]
            self._compositions.note_open(place)
        elif place.kind in NEEDED:
            self._losses.note("dangling-reference", place, f"{reason}.")
            self.mended.broken.setdefault(place.unit, f"{place.pointer}: {reason}")
            del place.value["$ref"]
        else:
            self._losses.drop("dangling-reference", place, reason)


class _Compositions:
    """Mends ``allOf``, ``oneOf`` and ``not`` after the walk, when every reference is a pointer."""

    def __init__(self, root: dict[str, Any], losses: Losses) -> None:
        self._root = root
        self._losses = losses
        self._alternating: list[Position] = []
        """Schemas with a ``oneOf``."""
        self._joined: list[Position] = []
        """Schemas with an ``allOf``."""
        self._excluding: set[tuple[str, str]] = set()
        """Schemas and their ``not`` or ``oneOf`` that an opened subschema would make refuse values."""

    def note(self, place: Position) -> None:
        """Remembers a schema if it is composed."""
        if isinstance(place.value.get("oneOf"), list):
            self._alternating.append(place)
        if isinstance(place.value.get("allOf"), list):
            self._joined.append(place)

    def note_open(self, place: Position) -> None:
        """Remembers the ``not`` or ``oneOf`` around a schema that accepts any value now."""
        around, _, keyword = place.pointer.rpartition("/")
        if place.kind == "schema" and keyword == "not":
            self._excluding.add((around, keyword))
        elif place.kind == "schema" and around.endswith("/oneOf"):
            self._excluding.add((around.rpartition("/")[0], "oneOf"))

    def mend(self) -> None:
        """Mends the schemas that were noted."""
        for place in self._joined:
            self._open_parts(place)
        for place in self._alternating:
            self._expect_distinct(place)
        self._relax_excluding()

    def _open_parts(self, place: Position) -> None:
        """Removes ``additionalProperties: false`` where it forbids members that allOf declares.

        Generators close each class, also the base of another one, whose members it then refuses.
        """
        parts = [place.value, *map(self._followed, place.value.get("allOf") or ())]
        names = self._member_names(place.value)
        for part in parts:
            is_closed = part.get("additionalProperties") is False
            foreign = sorted(names - {*(part.get("properties") or ())})
            if is_closed and foreign and not part.get("patternProperties"):
                del part["additionalProperties"]
                message = (
                    f"additionalProperties: false forbids {foreign[0]!r}, which is declared too; "
                    "it is left out."
                )
                self._losses.note("closed-part", place.below("allOf", "any"), message)

    def _member_names(self, schema: dict[str, Any]) -> set[str]:
        """Returns the members that a schema declares, by itself and in its allOf."""
        names: set[str] = set()
        pending, known = [schema], set[int]()
        while pending:
            part = self._followed(pending.pop())
            if id(part) not in known:
                known.add(id(part))
                names.update(part.get("properties") or ())
                pending += part.get("allOf") or ()
        return names

    def _followed(self, schema: Any) -> dict[str, Any]:
        """Returns the schema that a reference leads to; empty for a boolean, or one that mending removed."""
        for _ in range(MAX_REFERENCES):
            if not is_reference(schema):
                break
            try:
                schema = value_at(self._root, unquote(schema["$ref"]))
            except LookupError:
                return {}
        return schema if isinstance(schema, dict) else {}

    def _expect_distinct(self, place: Position) -> None:
        """Marks a ``oneOf`` to be read as anyOf if ordinary values fit several alternatives, or none.

        Two alternatives are equal or differ only in optional members, or only a discriminator, whose
        values their schemas do not list, distinguishes them.
        """
        alternatives = place.value.get("oneOf")
        if not isinstance(alternatives, list):  # mending removed it
            return
        self._tell_apart(alternatives, place.value.get("discriminator"))
        meant = [self._comparable(it) for it in alternatives]
        reason = ""
        if any(it in meant[:number] for number, it in enumerate(meant)):
            reason = "two alternatives are equal, so that no value fits exactly one"
        elif self._overlap(alternatives, None):
            reason = "what fits one alternative without its optional members fits another"
        if reason:
            message = f"{reason}; read as anyOf."
            self._losses.note("equal-alternatives", place.below("oneOf", "any"), message)
        if reason or self._overlap(alternatives, place.value.get("discriminator")):
            self._excluding.add((place.pointer, "oneOf"))

    def _tell_apart(self, alternatives: list[Any], discriminator: Any) -> None:
        """Limits the discriminator of each alternative to the values that the mapping has for it."""
        stated = discriminator if isinstance(discriminator, dict) else {}
        name, mapping = stated.get("propertyName"), stated.get("mapping") or {}
        for number, it in enumerate(alternatives if mapping else ()):
            reference = it.get("$ref") if isinstance(it, dict) else None
            targets = {reference, str(reference).removeprefix("#/components/schemas/")}
            values = [value for value, target in mapping.items() if target in targets]
            members, required = self._flattened(it) or ({}, [])
            meant = self._comparable(members.get(name)) if name in required else None
            if not values or not isinstance(meant, dict) or meant.get("type") != "string":
                continue
            if "const" not in meant and {*values} != {*meant.get("enum", ())}:
                limited = {name: {**meant, "enum": values}}
                alternatives[number] = {"allOf": [it], "properties": limited}

    def _overlap(self, alternatives: list[Any], discriminator: Any) -> bool:
        """Tells whether an object with only the required members of one alternative fits another.

        Alternatives without a common member are distinct: an object states which one it is by its members.
        With a discriminator: whether two alternatives list the same value for it, or one lists none.
        """
        name = discriminator.get("propertyName") if isinstance(discriminator, dict) else None
        names_by_need: dict[str, set[str]] = {}
        for members, required in filter(None, map(self._flattened, alternatives)):
            meant = {key: self._comparable(it) for key, it in members.items()}
            kinds = {k: v for k, v in meant.items() if isinstance(v, dict) and _KIND & v.keys()}
            if name is None:
                needs: list[Any] = [{**kinds, **{key: meant.get(key) for key in required}}]
            elif name in kinds:
                needs = kinds[name].get("enum", [kinds[name].get("const")])
            else:
                return True
            for need in {json.dumps(it, sort_keys=True, default=str) for it in needs}:
                names = names_by_need.setdefault(need, set())
                if not names.isdisjoint(members):
                    return True
                names.update(members)
        return False

    def _flattened(self, schema: Any, seen: int = 0) -> tuple[dict[str, Any], list[str]] | None:
        """Returns members and required names of an object schema; None if it has other keywords."""
        meant = self._comparable(schema)
        if not isinstance(meant, dict) or meant.keys() - _OF_OBJECTS:
            return None
        members, required = dict(meant.get("properties") or {}), list(meant.get("required") or ())
        parts = meant.get("allOf") or ()
        if meant.get("type", "object") != "object" or seen + len(parts) > _MOST_PARTS:
            return None
        for part in parts:
            seen += 1
            found = self._flattened(part, seen)
            if found is None:
                return None
            members, required = {**found[0], **members}, [*required, *found[1]]
        return members, required

    def _comparable(self, schema: Any) -> Any:
        """Returns a schema with its references followed and without annotations, for comparison."""
        for _ in range(MAX_REFERENCES):
            if not (isinstance(schema, dict) and set(schema) - _ANNOTATIONS == {"$ref"}):
                break
            try:
                schema = value_at(self._root, unquote(schema["$ref"]))
            except LookupError:  # mending removed the target
                break
        return _without_annotations(schema)

    def _relax_excluding(self) -> None:
        """Removes each ``not`` of an opened schema, and turns a marked ``oneOf`` into ``anyOf``."""
        for pointer, keyword in self._excluding:
            with suppress(LookupError):  # mending removed it
                schema = value_at(self._root, pointer)
                schemas = schema.pop(keyword)
                if keyword == "oneOf":
                    schema.setdefault("anyOf", schemas)


def _without_annotations(schema: Any, *, are_names: bool = False) -> Any:
    """Returns a schema without keywords that only annotate; property names are kept."""
    if isinstance(schema, list):
        return [_without_annotations(it) for it in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without_annotations(it, are_names=not are_names and name == "properties")
        for name, it in schema.items()
        if are_names or name not in _ANNOTATIONS
    }


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _is_described(place: Position) -> bool:
    """Tells whether a position still has content of its own after its reference was read."""
    is_kept = place.key in _keys(place.holder)
    return is_kept and bool(place.value) and "$ref" not in place.value


def _fits(value: Any, kind: str) -> bool:
    return isinstance(value, dict | (bool if kind == "schema" else dict))
