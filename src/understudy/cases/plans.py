"""Plans: the plain request of each operation, its mutations, and the generators of further ones.

Works for any document. Where an operation is one of the interface's, its prose is added by method
and path, because documents name operations and parameters differently.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

from understudy.cases import (
    authorization_server,
    bodies,
    parameters,
    protocol,
    resource_api,
    uploads,
)
from understudy.cases.drafts import FORM, MULTIPART, Draft, DraftChange, is_json
from understudy.cases.edges import SchemaValues
from understudy.cases.model import CaseRequest, CaseSite, ExpectedResponse, SetUp, variable
from understudy.cases.mutations import Generator, InterfaceProse, Mutation, OperationContext
from understudy.cases.plain_requests import PlainRequests, body_of
from understudy.cases.test_data import AVATAR_ID, CLIENT_TOKEN, CODE, TestData
from understudy.interface.operations import (
    AVATAR_CHANGES,
    DELETE_AVATAR,
    TOKEN,
    TOKEN_INFO,
    UPLOAD_AVATAR,
    key_of,
)
from understudy.interface.recognition import interface_operations
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, operations, path_shape
from understudy.openapi.paths import Paths, decoded_path
from understudy.openapi.schemas import Schemas


@dataclass(frozen=True)
class OperationPlan:
    """Everything that the cases of one operation are made of.

    Attributes:
        context: The operation and its plain request.
        make_mutations: Makes every known mutation.
        make_generators: Makes what draws further mutations.
        body_schema: Schema of the JSON body, where the operation takes one.
        document: The document that describes the operation.
        uncertain_part: The part for which no value was found that its schema accepts, or an empty
            string. Such a request may be refused because of that part, so every case is left open.
        set_up: The request to send before each case that needs its result; None for none.
        is_valid_first: Whether to send valid cases before the others, which use up the attempts
            that the operation allows.
    """

    context: OperationContext
    make_mutations: Callable[[], Iterable[Mutation]]
    make_generators: Callable[[], Iterable[Generator]]
    body_schema: Node | None
    document: Document
    uncertain_part: str = ""
    set_up: SetUp | None = None
    is_valid_first: bool = False

    @property
    def name(self) -> str:
        """The operation's id."""
        return self.context.operation.operation_id

    @cached_property
    def mutations(self) -> tuple[Mutation, ...]:
        """Every known mutation; made for the second case, as the first needs none."""
        return tuple(self.make_mutations())

    @cached_property
    def generators(self) -> tuple[Generator, ...]:
        """The generators of further mutations."""
        return tuple(self.make_generators())

    @cached_property
    def plain_request(self) -> CaseRequest:
        """The plain request of the operation."""
        return self.context.plain.request()

    def existing_pointer(self, because: str) -> str:
        """Returns a reason whose JSON pointer, if it is one, leads somewhere in the document.

        A keyword that the document leaves out is cited as the schema that leaves it out.
        """
        if not because.startswith("#/"):
            return because
        node = self.document.root
        for step in because[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            child = node.child(int(key) if isinstance(node.value, list) else key)
            if child is None:
                break
            node = child
        return node.pointer

    def accepts_body(self, draft: Draft) -> bool:
        """Tells whether the schema accepts the JSON body that several mutations made together."""
        if self.body_schema is None or not draft.has_json or draft.raw is not None:
            return True
        return bool(self.context.values.schemas.validator(self.body_schema).is_valid(draft.json))


class Planner:
    """Makes the plans of one document.

    Args:
        document: The document.
        site: The address that its operations are at.
        test_data: The people, avatars and applications that the cases use.
    """

    def __init__(self, document: Document, site: CaseSite, test_data: TestData) -> None:
        self._document = document
        self._site: CaseSite = site
        self._test_data = test_data
        self._values = SchemaValues(Schemas(document))
        self._own = interface_operations(document)
        self._plain = PlainRequests(document, site, self._values, self._own)
        self._operations = operations(document)

    @property
    def document(self) -> Document:
        """The document."""
        return self._document

    @property
    def has_interface(self) -> bool:
        """True if any of the operations is the interface's."""
        return bool(self._own)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations of the document, in its order."""
        return self._operations

    @cached_property
    def _paths(self) -> Paths:
        """The path templates; a path may fit several, of which each takes methods of its own."""
        return Paths({"": self._operations})

    @cached_property
    def _methods(self) -> Mapping[str, frozenset[str]]:
        methods: dict[str, frozenset[str]] = {}
        for operation in self._operations:
            shape = path_shape(operation.path)
            methods[shape] = methods.get(shape, frozenset()) | {operation.method}
        return methods

    def plan(
        self, operation: Operation, with_known_values: DraftChange | None = None
    ) -> OperationPlan:
        """Returns the plan of an operation.

        Args:
            operation: An operation of the document.
            with_known_values: Puts values that exist at the deployment into the plain request.
        """
        prose = self._prose(operation)
        context = self._context(operation, prose)
        if with_known_values is not None:
            context = replace(context, plain=with_known_values(context.plain))
        media_type, schema = body_of(operation)
        return OperationPlan(
            context,
            partial(self._mutations, context, prose),
            partial(self._generators, context),
            schema if is_json(media_type) else None,
            self._document,
            "" if prose is not None else self._plain.uncertain_part(operation),
            self._set_up(operation),
            self._site == "authorization" and key_of(operation.method, operation.path) == TOKEN,
        )

    @cached_property
    def _upload(self) -> Operation | None:
        """The operation that creates an avatar; None if the document has none."""
        if UPLOAD_AVATAR not in self._own:
            return None
        named = ((key_of(each.method, each.path), each) for each in self._operations)
        return next(operation for key, operation in named if key == UPLOAD_AVATAR)

    def _set_up(self, operation: Operation) -> SetUp | None:
        key = key_of(operation.method, operation.path)
        if self._site == "authorization":
            return self._credential_set_up(key)
        if self._upload is None or key not in AVATAR_CHANGES:
            return None
        return SetUp(self._plain.draft(self._upload).request(), is_shared=key != DELETE_AVATAR)

    def _credential_set_up(self, key: str) -> SetUp | None:
        """Returns the request for a code, for its exchange, or for a token, for its validation."""
        if key == TOKEN:
            request = authorization_server.code_request(self._test_data)
            return (
                None
                if request is None
                else SetUp(request, is_shared=False, variable=CODE, member="code")
            )
        named = ((key_of(each.method, each.path), each) for each in self._operations)
        token = next((operation for name, operation in named if name == TOKEN), None)
        if key != TOKEN_INFO or token is None:
            return None
        draft = authorization_server.password_grant(self._test_data, self._plain.draft(token))
        return SetUp(draft.request(), is_shared=True, variable=CLIENT_TOKEN, member="access_token")

    def _prose(self, operation: Operation) -> InterfaceProse | None:
        key = key_of(operation.method, operation.path)
        if self._site == "authorization":
            return authorization_server.prose(key, self._test_data)
        if key not in self._own:
            return None
        names = tuple(p.name for p in operation.parameters if p.location == "path")
        avatar_id = self._test_data.image_id if self._upload is None else variable(AVATAR_ID)
        return resource_api.prose(key, names, self._test_data, avatar_id)

    def _context(self, operation: Operation, prose: InterfaceProse | None) -> OperationContext:
        plain = self._plain.draft(operation)
        context = OperationContext(operation, self._values, plain, _success(operation))
        if prose is None:
            return context
        return replace(
            context,
            plain=prose.with_known_values(plain),
            success=context.success._replace(location=prose.location),
            is_interface_operation=True,
            **prose.context,
        )

    def _mutations(
        self, context: OperationContext, prose: InterfaceProse | None
    ) -> Iterator[Mutation]:
        yield from self._mutations_by_document(context)
        if prose is not None:
            yield from prose.mutations(context)

    def _mutations_by_document(self, context: OperationContext) -> Iterator[Mutation]:
        operation = context.operation
        media_type, schema = body_of(operation)
        for parameter in operation.parameters:
            yield from parameters.mutations(context, parameter)
        if schema is not None and is_json(media_type):
            yield from bodies.json_mutations(context, schema)
        if schema is not None and media_type == FORM:
            yield from bodies.form_mutations(context, schema)
        if schema is not None and media_type == MULTIPART:
            for name in self._plain.file_fields(schema):
                yield from uploads.mutations(context, schema, name)
        if media_type:
            yield from protocol.content_types(context, media_type)
        taken = self._paths.allowed(decoded_path(context.plain.request().path))
        yield from protocol.mutations(
            context, self._methods[path_shape(operation.path)] | frozenset(taken)
        )
        access = self._plain.bearer_access(operation)
        if access:
            yield from protocol.bearer_mutations(context, is_required=access == "required")

    def _generators(self, context: OperationContext) -> Iterator[Generator]:
        media_type, schema = body_of(context.operation)
        for parameter in context.operation.parameters:
            yield from parameters.generators(context, parameter)
        if schema is not None and (is_json(media_type) or media_type == FORM):
            yield from bodies.json_generators(context, schema, is_form=media_type == FORM)
        if schema is not None and media_type == MULTIPART:
            for name in self._plain.file_fields(schema):
                yield from uploads.generators(name, context)
        yield from protocol.generators(context)
        if self._plain.bearer_access(context.operation):
            yield from protocol.bearer_generators(context)


def _success(operation: Operation) -> ExpectedResponse:
    """Returns the statuses of success: those that the document names, or any 2XX.

    Where it names only errors, there is nothing else to respond with.
    """
    declared = tuple(status for status in operation.responses if status[0] in "23")
    because = f"{operation.pointer}/responses"
    if operation.responses and not declared and "default" not in operation.responses:
        return ExpectedResponse(tuple(operation.responses), because)
    if operation.method == "GET" and declared == ("200", "302"):
        return ExpectedResponse(declared, because)
    return ExpectedResponse(("2XX", *(s for s in declared if s[0] == "3")), because)
