"""Plans: for each operation the plain request, every turn of it, and what makes up further ones.

Works for any document. Where a path is one of the interface's, its prose is added by method and
path, as documents name operations and parameters differently.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from understudy.contract.edge_cases import (
    bodies,
    credentials,
    forms,
    parameters,
    protocol,
    service,
    signing_in,
    uploads,
)
from understudy.contract.edge_cases.case import Expected, Site, variable
from understudy.contract.edge_cases.drafts import FORM, JSON, MULTIPART, Draft, encoded
from understudy.contract.edge_cases.pictures import png
from understudy.contract.edge_cases.scenes import Scene
from understudy.contract.edge_cases.subjects import Subjects
from understudy.contract.edge_cases.turns import Draw, Turn
from understudy.contract.edge_cases.values import Values
from understudy.document.loader import Document, Node
from understudy.document.operations import Operation, Parameter, operations
from understudy.document.schemas import Schemas

_BEARER_TYPES = ("oauth2", "openIdConnect")


@dataclass(frozen=True)
class Plan:
    """What cases of one operation are made of.

    Attributes:
        scene: The operation and its plain request.
        turns: Each deviation that is known.
        draws: What makes up further ones.
        body_schema: Of its JSON body, where it takes one.
    """

    scene: Scene
    turns: tuple[Turn, ...]
    draws: tuple[Draw, ...]
    body_schema: Node | None

    @property
    def name(self) -> str:
        """The operation's id."""
        return self.scene.operation.operation_id

    def takes(self, draft: Draft) -> bool:
        """Tells whether the schema takes the JSON body that several turns made together."""
        if self.body_schema is None or not draft.has_json or draft.raw is not None:
            return True
        return bool(self.scene.values.schemas.validator(self.body_schema).is_valid(draft.json))


class Planner:
    """Makes the plans of one document.

    Args:
        document: The document.
        site: Which address its operations are at.
        known: What cases are about.
    """

    def __init__(self, document: Document, site: Site, known: Subjects) -> None:
        self._document = document
        self._site: Site = site
        self._known = known
        self._values = Values(Schemas(document))
        self._operations = operations(document)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations of the document, in its order."""
        return self._operations

    @cached_property
    def _methods(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for operation in self._operations:
            shape = _shape(operation.path)
            found[shape] = found.get(shape, frozenset()) | {operation.method}
        return found

    def plan(self, operation: Operation) -> Plan:
        """Returns the plan of an operation."""
        scene, oddities = self._scene(operation)
        media_type, schema = _body(operation)
        turns = [*self._turns(scene, media_type, schema), *oddities(scene)]
        return Plan(
            scene,
            tuple(turns),
            tuple(self._draws(scene, media_type, schema)),
            schema if media_type == JSON else None,
        )

    def _scene(self, operation: Operation) -> tuple[Scene, Callable[[Scene], Iterator[Turn]]]:
        key = (operation.method, _shape(operation.path))
        names = tuple(p.name for p in operation.parameters if p.location == "path")
        draft = self._base(operation)
        scene = Scene(operation, self._values, draft, _accepted(operation))
        if self._site == "resource":
            of_service = service.prose(key, names, self._known)
            if of_service is not None:
                base = of_service.base(draft)
                said = replace(scene, base=base, meanings=of_service.meanings, is_ours=True)
                return said, of_service.oddities
            return scene, _nothing
        of_server = signing_in.prose(key, self._known)
        if of_server is None:
            return scene, _nothing
        is_page = key == signing_in.AUTHORIZE
        accepted = scene.accepted._replace(location="without error") if is_page else scene.accepted
        said = replace(
            scene, base=of_server.base(draft), accepted=accepted, is_ours=True, **of_server.scene
        )
        return said, of_server.oddities

    def _turns(self, scene: Scene, media_type: str, schema: Node | None) -> Iterator[Turn]:
        operation = scene.operation
        for parameter in operation.parameters:
            yield from parameters.turns(scene, parameter)
        if schema is not None and media_type == JSON:
            yield from bodies.json_turns(scene, schema)
        if schema is not None and media_type == FORM:
            yield from forms.turns(scene, schema)
        if schema is not None and media_type == MULTIPART:
            for name in self._files(schema):
                yield from uploads.turns(scene, schema, name)
        if media_type:
            yield from protocol.content_types(scene, media_type)
        yield from protocol.turns(scene, self._methods[_shape(operation.path)])
        access = self._access(operation)
        if access:
            yield from credentials.turns(scene, is_required=access == "required")

    def _draws(self, scene: Scene, media_type: str, schema: Node | None) -> Iterator[Draw]:
        for parameter in scene.operation.parameters:
            yield from parameters.draws(scene, parameter)
        if schema is not None and media_type in {JSON, FORM}:
            yield from bodies.draws(scene, schema, is_form=media_type == FORM)
        if schema is not None and media_type == MULTIPART:
            for name in self._files(schema):
                yield from uploads.draws(name, scene)
        yield from protocol.draws(scene)
        if self._access(scene.operation):
            yield from credentials.draws(scene)

    def _access(self, operation: Operation) -> str:
        """Returns whether a bearer token is required, optional, or nothing (an empty text)."""
        named = {name for alternative in operation.security for name in alternative}
        if not any(_is_bearer(self._scheme(name)) for name in named):
            return ""
        is_lookup = (operation.method, _shape(operation.path)) == service.LOOKUP
        return "optional" if {} in operation.security or is_lookup else "required"

    def _scheme(self, name: str) -> Mapping[str, Any]:
        node = self._document.root.child("components", "securitySchemes", name)
        found: Mapping[str, Any] = {} if node is None else self._document.follow(node).value
        return found

    def _base(self, operation: Operation) -> Draft:
        draft = Draft(self._site, operation.method, operation.path)
        for parameter in operation.parameters:
            draft = self._with_parameter(draft, parameter)
        draft = self._with_credentials(draft, operation)
        media_type, schema = _body(operation)
        if not media_type:
            return draft
        draft = draft._replace(content_type=media_type)
        value = self._body_value(operation, media_type, schema)
        if media_type == JSON:
            return draft._replace(json=value, has_json=True)
        members = value if isinstance(value, dict) else {}
        if media_type == FORM:
            written = parameters.written
            pairs = ((encoded(name), encoded(written(text))) for name, text in members.items())
            return draft._replace(form=tuple(pairs))
        if media_type == MULTIPART and schema is not None:
            files = {name: png() for name in self._files(schema)}
            return draft._replace(parts=uploads.base_parts(iter({**members, **files}.items())))
        return draft._replace(raw=png() if media_type.startswith("image/") else b"understudy")

    def _body_value(self, operation: Operation, media_type: str, schema: Node | None) -> Any:
        assert operation.request_body is not None
        examples = operation.request_body.content[media_type].examples.values()
        if schema is None:
            return next(iter(examples), {})
        takes = self._values.schemas.validator(schema).is_valid
        fitting = next((example for example in examples if takes(example)), None)
        return self._values.sample(schema) if fitting is None else fitting

    def _files(self, schema: Node) -> Iterator[str]:
        schemas = self._values.schemas
        for name in dict.fromkeys(schemas.property_names(schema)):
            member = schemas.property_schema(schema, name)
            said = {} if member is None else self._values.says(member)
            if said.get("format") == "binary" or "contentMediaType" in said or not said:
                yield name

    def _with_parameter(self, draft: Draft, parameter: Parameter) -> Draft:
        name, is_needed = parameter.name, parameter.required or parameter.location == "path"
        if not is_needed:
            return draft
        value = "a" if parameter.schema is None else self._example(parameter.schema)
        if parameter.location == "path":
            text = encoded(parameters.written(value)) or "a"
            return draft._replace(places=(*draft.places, (name, text)))
        if parameter.location == "query":
            return draft._replace(query=(*draft.query, *_pairs(parameter, value)))
        header = "Cookie" if parameter.location == "cookie" else name
        text = parameters.written(value)
        return draft.with_headers(header, f"{name}={text}" if header == "Cookie" else text)

    def _example(self, schema: Node) -> Any:
        owner = self._owner(schema)
        takes = self._values.schemas.validator(schema).is_valid
        listed = owner.get("examples") or {}
        named = (entry.get("value") for entry in listed.values() if isinstance(entry, dict))
        given = (*([owner["example"]] if "example" in owner else []), *named)
        fitting = next((value for value in given if takes(value)), None)
        return self._values.sample(schema) if fitting is None else fitting

    def _owner(self, schema: Node) -> Mapping[str, Any]:
        """Returns the parameter that a schema stands in: its examples are there."""
        node: Node | None = self._document.root
        for step in schema.pointer[2:].split("/")[:-1]:
            key = step.replace("~1", "/").replace("~0", "~")
            is_list = node is not None and isinstance(node.value, list)
            node = node and node.child(int(key) if is_list else key)
        return node.value if node is not None and isinstance(node.value, dict) else {}

    def _with_credentials(self, draft: Draft, operation: Operation) -> Draft:
        if self._access(operation):
            return draft.with_headers("Authorization", f"Bearer {credentials.TOKEN}")
        if not operation.security or {} in operation.security:
            return draft
        for name in operation.security[0]:
            scheme, text = self._scheme(name), variable("credential")
            if scheme.get("in") == "query":
                draft = draft.with_query(encoded(str(scheme.get("name"))), text)
            elif scheme.get("in") == "cookie":
                draft = draft.with_headers("Cookie", f"{scheme.get('name')}={text}")
            else:
                draft = draft.with_headers(str(scheme.get("name", "Authorization")), text)
        return draft


def _nothing(_scene: Scene) -> Iterator[Turn]:
    return iter(())


def _shape(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


def _is_bearer(scheme: Mapping[str, Any]) -> bool:
    is_http = scheme.get("type") == "http" and str(scheme.get("scheme")).lower() == "bearer"
    return is_http or scheme.get("type") in _BEARER_TYPES


def _body(operation: Operation) -> tuple[str, Node | None]:
    """Returns the media type that cases send, and its schema; nothing where no body is taken."""
    if operation.request_body is None:
        return "", None
    content = operation.request_body.content
    chosen = next(
        (name for name in (JSON, FORM, MULTIPART) if name in content), next(iter(content))
    )
    return chosen, content[chosen].schema


def _accepted(operation: Operation) -> Expected:
    """Returns the statuses of success: those that the document names, or all there could be."""
    named = tuple(status for status in operation.responses if status[0] in "23")
    because = f"{operation.pointer}/responses"
    if operation.method == "GET" and named == ("200", "302"):
        return Expected(named, because)
    return Expected(("2XX", *(s for s in named if s[0] == "3")), because)


def _pairs(parameter: Parameter, value: Any) -> Iterable[tuple[str, str]]:
    """Yields an array or object as the document's style writes it (OpenAPI 3.0.3, 4.7.12.2)."""
    name, written = encoded(parameter.name), parameters.written
    if isinstance(value, dict) and parameter.style == "deepObject":
        return tuple((f"{name}%5B{encoded(k)}%5D", encoded(written(v))) for k, v in value.items())
    if isinstance(value, list) and parameter.explode:
        return tuple((name, encoded(written(item))) for item in value)
    if isinstance(value, list):
        return ((name, ",".join(encoded(written(item)) for item in value)),)
    return ((name, encoded(written(value))),)
