"""Plans: for each operation the plain request, every turn of it, and what makes up further ones.

Works for any document. Where a path is one of the interface's, its prose is added by method and
path, as documents name operations and parameters differently.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from understudy.generate.cases import CaseSite, Expected
from understudy.generate.drafts import FORM, MULTIPART, Draft, is_json
from understudy.generate.mutations import authorization_server as signing_in
from understudy.generate.mutations import bodies, credentials, forms, parameters, protocol, uploads
from understudy.generate.mutations import resource_api as service
from understudy.generate.mutations.mutation import Generator, Mutation
from understudy.generate.mutations.operation_context import OperationContext
from understudy.generate.plain_requests import PlainRequests, body_of
from understudy.generate.test_data import TestData
from understudy.generate.values import Values
from understudy.interface.operations import AUTHORIZE, key_of
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, operations, path_shape
from understudy.openapi.schemas import Schemas


@dataclass(frozen=True)
class OperationPlan:
    """What cases of one operation are made of.

    Attributes:
        scene: The operation and its plain request.
        turns: Each deviation that is known.
        draws: What makes up further ones.
        body_schema: Of its JSON body, where it takes one.
        document: Where it stands.
        unsure: For which part no value was found that its schema takes: then nothing is sure to be
            accepted, and what refuses a request may be that part.
    """

    scene: OperationContext
    turns: tuple[Mutation, ...]
    draws: tuple[Generator, ...]
    body_schema: Node | None
    document: Document
    unsure: str = ""

    @property
    def name(self) -> str:
        """The operation's id."""
        return self.scene.operation.operation_id

    def standing(self, because: str) -> str:
        """Returns a reason whose pointer leads somewhere.

        A keyword that is not written is said by the schema that leaves it out.
        """
        if not because.startswith("#/"):
            return because
        node = self.document.root
        for step in because[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            below = node.child(int(key) if isinstance(node.value, list) else key)
            if below is None:
                break
            node = below
        return node.pointer

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

    def __init__(self, document: Document, site: CaseSite, known: TestData) -> None:
        self._document = document
        self._site: CaseSite = site
        self._known = known
        self._values = Values(Schemas(document))
        self._plain = PlainRequests(document, site, self._values)
        self._operations = operations(document)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations of the document, in its order."""
        return self._operations

    @cached_property
    def _methods(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for operation in self._operations:
            shape = path_shape(operation.path)
            found[shape] = found.get(shape, frozenset()) | {operation.method}
        return found

    def plan(self, operation: Operation) -> OperationPlan:
        """Returns the plan of an operation."""
        scene, oddities = self._scene(operation)
        media_type, schema = body_of(operation)
        turns = [*self._turns(scene, media_type, schema), *oddities(scene)]
        return OperationPlan(
            scene,
            tuple(turns),
            tuple(self._draws(scene, media_type, schema)),
            schema if is_json(media_type) else None,
            self._document,
            "" if scene.is_ours else self._plain.unsure(operation),
        )

    def _scene(
        self, operation: Operation
    ) -> tuple[OperationContext, Callable[[OperationContext], Iterator[Mutation]]]:
        key = key_of(operation.method, operation.path)
        names = tuple(p.name for p in operation.parameters if p.location == "path")
        draft = self._plain.draft(operation)
        scene = OperationContext(operation, self._values, draft, _accepted(operation))
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
        is_page = key == AUTHORIZE
        accepted = scene.accepted._replace(location="without error") if is_page else scene.accepted
        said = replace(
            scene, base=of_server.base(draft), accepted=accepted, is_ours=True, **of_server.scene
        )
        return said, of_server.oddities

    def _turns(
        self, scene: OperationContext, media_type: str, schema: Node | None
    ) -> Iterator[Mutation]:
        operation = scene.operation
        for parameter in operation.parameters:
            yield from parameters.turns(scene, parameter)
        if schema is not None and is_json(media_type):
            yield from bodies.json_turns(scene, schema)
        if schema is not None and media_type == FORM:
            yield from forms.turns(scene, schema)
        if schema is not None and media_type == MULTIPART:
            for name in self._plain.files(schema):
                yield from uploads.turns(scene, schema, name)
        if media_type:
            yield from protocol.content_types(scene, media_type)
        yield from protocol.turns(scene, self._methods[path_shape(operation.path)])
        access = self._plain.access(operation)
        if access:
            yield from credentials.turns(scene, is_required=access == "required")

    def _draws(
        self, scene: OperationContext, media_type: str, schema: Node | None
    ) -> Iterator[Generator]:
        for parameter in scene.operation.parameters:
            yield from parameters.draws(scene, parameter)
        if schema is not None and (is_json(media_type) or media_type == FORM):
            yield from bodies.draws(scene, schema, is_form=media_type == FORM)
        if schema is not None and media_type == MULTIPART:
            for name in self._plain.files(schema):
                yield from uploads.draws(name, scene)
        yield from protocol.draws(scene)
        if self._plain.access(scene.operation):
            yield from credentials.draws(scene)


def _nothing(_scene: OperationContext) -> Iterator[Mutation]:
    return iter(())


def _accepted(operation: Operation) -> Expected:
    """Returns the statuses of success: those that the document names, or all there could be."""
    named = tuple(status for status in operation.responses if status[0] in "23")
    because = f"{operation.pointer}/responses"
    if operation.method == "GET" and named == ("200", "302"):
        return Expected(named, because)
    return Expected(("2XX", *(s for s in named if s[0] == "3")), because)
