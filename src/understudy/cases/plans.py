"""Plans: the plain request of each operation, its mutations, and generators of random ones.

Plans can be made for any document. Operations of the interface are recognised by method and path,
as documents name operations differently, and get the interface's prose rules in addition.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any

from understudy.cases import (
    authorization_server,
    bodies,
    parameters,
    protocol,
    resource_api,
    uploads,
)
from understudy.cases.drafts import Draft, DraftChange
from understudy.cases.edges import SchemaValues
from understudy.cases.model import (
    CaseRequest,
    CaseSite,
    ExpectedResponse,
    SetUp,
    encoded_variable,
    variable,
)
from understudy.cases.mutations import OPEN, Generator, InterfaceProse, Mutation, OperationContext
from understudy.cases.test_data import AVATAR_ID, CLIENT_TOKEN, CODE, TestData
from understudy.cases.uploads import png
from understudy.interface.operations import (
    AVATAR_CHANGES,
    DELETE_AVATAR,
    LOOKUP,
    TOKEN,
    TOKEN_INFO,
    UPLOAD_AVATAR,
    key_of,
    keyed,
)
from understudy.interface.recognition import interface_operations
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import JSON, MULTIPART, URLENCODED, is_json, is_xml
from understudy.openapi.operations import (
    BEARER,
    Credential,
    Operation,
    Parameter,
    addressed,
    credentials_of,
    distinguishing,
    operations,
    path_shape,
    security_schemes,
)
from understudy.openapi.parameter_writing import encoded, form_pairs, items_of, query_pairs, text_of
from understudy.openapi.path_matching import decoded_path
from understudy.openapi.paths import Paths
from understudy.openapi.pointers import steps_of
from understudy.openapi.schemas import ALL, schemas_of
from understudy.openapi.xml_writing import XmlWriter

ANY_BYTES = ("image/", "application/octet-stream")
"""Prefixes of media types whose bodies a schema cannot describe."""

_PRINTABLE = re.compile("[ -~]*")
"""Texts that every client can send in a header."""


class PlainRequests:
    """Makes the plain request of each operation of a document.

    Args:
        document: The document.
        site: The server that has its operations.
        values: Makes values for the document's schemas.
        own: The interface's operations in the document.
    """

    def __init__(
        self,
        document: Document,
        site: CaseSite,
        values: SchemaValues,
        own: frozenset[str] = frozenset(),
    ) -> None:
        self._schemes = security_schemes(document)
        self._own = own
        self._site: CaseSite = site
        self._values = values

    def draft(self, operation: Operation) -> Draft:
        """Returns the plain request: required parameters, credentials and body, from examples."""
        draft = Draft(self._site, operation.method, operation.path)
        for parameter in operation.parameters:
            draft = self._with_parameter(draft, parameter)
        draft = self._with_credentials(draft, operation)
        media_type, schema = body_of(operation)
        if not media_type:
            return draft
        draft = draft._replace(content_type=media_type)
        value = self._body_value(operation, media_type, schema)
        if is_json(media_type):
            return draft._replace(json=value, has_json=True)
        members = value if isinstance(value, dict) else {}
        if media_type == URLENCODED:
            assert operation.request_body is not None
            encodings = operation.request_body.content[media_type].encoding
            return draft._replace(form=tuple(form_pairs(members, encodings)))
        if media_type == MULTIPART and schema is not None:
            files = {name: png() for name in self.file_fields(schema)}
            parts = ((n, item) for n, it in {**members, **files}.items() for item in items_of(it))
            return draft._replace(parts=uploads.base_parts(parts))
        if media_type.startswith("image/"):
            return draft._replace(raw=png(), content_type=media_type.replace("*", "png"))
        if is_xml(media_type) and not isinstance(value, str):
            raw = XmlWriter(self._values.schemas).write(value, schema)
        else:
            raw = (value if isinstance(value, str) else "understudy").encode()
        return draft._replace(raw=raw)

    def uncertain_part(self, operation: Operation) -> str:
        """Returns the part for which no valid value was found; empty if all parts are valid."""
        for parameter in operation.parameters:
            schema = parameter.schema
            is_needed = parameter.required or parameter.location == "path"
            value = self._values.parameter(parameter)
            if schema is not None and is_needed and not self._accepts(schema, value):
                return f"{parameter.location} {parameter.name}"
        media_type, schema = body_of(operation)
        if media_type.startswith(ANY_BYTES):
            return ""
        if not media_type.startswith("text/plain") and not _is_structured(media_type, schema):
            return "body" if media_type else ""
        value = None if schema is None else self._body_value(operation, media_type, schema)
        is_fitting = schema is None or media_type == MULTIPART or self._accepts(schema, value)
        return "" if is_fitting else "body"

    def _accepts(self, schema: Node, value: Any) -> bool:
        return bool(self._values.schemas.validator(schema).is_valid(value))

    def _body_value(self, operation: Operation, media_type: str, schema: Node | None) -> Any:
        assert operation.request_body is not None
        examples = operation.request_body.content[media_type].examples.values()
        if schema is None:
            return next(iter(examples), {})
        is_accepted = self._values.schemas.validator(schema).is_valid
        fitting = next((example for example in examples if is_accepted(example)), None)
        return self._values.sample(schema) if fitting is None else fitting

    def _with_parameter(self, draft: Draft, parameter: Parameter) -> Draft:
        name, is_needed = parameter.name, parameter.required or parameter.location == "path"
        if not is_needed:
            return draft
        value = self._values.parameter(parameter)
        if parameter.location == "path":
            text = text_of(parameter, value) or "a"
            return draft._replace(places=(*draft.places, (name, text)))
        if parameter.location == "query":
            return draft._replace(query=(*draft.query, *query_pairs(parameter, value)))
        if parameter.location == "cookie":
            return draft.with_cookie(name, text_of(parameter, value))
        text = text_of(parameter, value, str)
        return draft.with_headers(name, text if _PRINTABLE.fullmatch(text) else "a")

    def _with_credentials(self, draft: Draft, operation: Operation) -> Draft:
        """Returns the draft with the credentials of the security requirement that it meets.

        A request has one Authorization header, so a bearer token replaces other schemes in it.
        """
        has_token = bool(self.bearer_access(operation))
        if has_token:
            draft = draft.with_headers("Authorization", f"Bearer {protocol.BEARER_TOKEN}")
        if not operation.security or {} in operation.security:
            return draft
        for credential in self._met(operation):
            if not (has_token and credential.name.lower() == "authorization"):
                draft = _with_credential(draft, credential)
        return draft

    def _met(self, operation: Operation) -> tuple[Credential, ...]:
        """Returns the credentials of plain requests: of the first security requirement with any.

        A client certificate (mutual TLS) is none that a request could send.
        """
        return next(filter(None, map(self._credentials, operation.security)), ())

    def _credentials(self, requirement: Iterable[str]) -> tuple[Credential, ...]:
        schemes = (self._schemes[name] for name in requirement if name in self._schemes)
        return tuple(credentials_of(schemes))

    def bearer_access(self, operation: Operation) -> str:
        """Returns whether a bearer token is ``required`` or ``optional``; empty if it is not used.

        Only one security requirement is considered, unless none is needed: plain requests meet one.
        """
        is_optional = {} in operation.security
        all_of_them = chain.from_iterable(map(self._credentials, operation.security))
        if BEARER not in (all_of_them if is_optional else self._met(operation)):
            return ""
        is_lookup = LOOKUP in self._own and key_of(operation.method, operation.path) == LOOKUP
        return "optional" if is_optional or is_lookup else "required"

    def file_fields(self, schema: Node) -> Iterator[str]:
        """Returns the names of the file fields of a multipart form."""
        schemas = self._values.schemas
        members = schemas.members(schema, ALL).items()
        return (name for name, member in members if schemas.is_file(member))


def _is_structured(media_type: str, schema: Node | None) -> bool:
    """Tells whether a body consists of members; XML only if a schema describes them."""
    is_known_xml = is_xml(media_type) and schema is not None
    return is_json(media_type) or is_known_xml or media_type in {URLENCODED, MULTIPART}


def _with_credential(draft: Draft, credential: Credential) -> Draft:
    """Returns the draft with the variable of a credential in its place."""
    if credential.location == "query":
        return draft.with_query(encoded(credential.name), encoded_variable("CREDENTIAL"))
    if credential.location == "cookie":
        return draft.with_cookie(credential.name, variable("CREDENTIAL"))
    if not credential.scheme:
        return draft.with_headers(credential.name, variable("CREDENTIAL"))
    text = variable("BASIC_CREDENTIAL" if credential.scheme == "basic" else "CREDENTIAL")
    return draft.with_headers("Authorization", f"{credential.scheme.capitalize()} {text}")


def body_of(operation: Operation) -> tuple[str, Node | None]:
    """Returns the media type that cases send and its schema; an empty string and None without body."""
    if operation.request_body is None:
        return "", None
    content = operation.request_body.content
    first = next(iter(content))
    chosen = next((name for name in content if is_json(name)), first)
    chosen = next((name for name in (JSON, URLENCODED, MULTIPART) if name in content), chosen)
    return chosen, content[chosen].schema


@dataclass(frozen=True)
class OperationPlan:
    """Everything that is needed to make the cases of one operation.

    Attributes:
        context: The operation and its plain request.
        make_mutations: Makes all mutations.
        make_generators: Makes the generators of random mutations.
        body_schema: Schema of the JSON body; None if the operation accepts no JSON.
        document: The document that describes the operation.
        doubt: Why even plain requests may fail, so that all cases are left open; empty: no doubt.
        set_up: The request to send before each case that needs its result; None without.
        is_valid_first: Whether to send valid cases first, since failed attempts are throttled.
    """

    context: OperationContext
    make_mutations: Callable[[], Iterable[Mutation]]
    make_generators: Callable[[], Iterable[Generator]]
    body_schema: Node | None
    document: Document
    doubt: str = ""
    set_up: SetUp | None = None
    is_valid_first: bool = False

    @property
    def name(self) -> str:
        """The operation's id."""
        return self.context.operation.operation_id

    @cached_property
    def mutations(self) -> tuple[Mutation, ...]:
        """All mutations; made when the second case is requested, as the first needs none."""
        return tuple(self.make_mutations())

    @cached_property
    def generators(self) -> tuple[Generator, ...]:
        """The generators of random mutations."""
        return tuple(self.make_generators())

    @cached_property
    def plain_request(self) -> CaseRequest:
        """The plain request of the operation."""
        return self.context.plain.request()

    def existing_pointer(self, because: str) -> str:
        """Returns a reason with its JSON pointer, if it is one, shortened to an existing node.

        A missing keyword, for example, is cited by the pointer of the schema that lacks it.
        """
        if not because.startswith("#/"):
            return because
        node = self.document.root
        for step in steps_of(because):
            child = node.child(int(step) if isinstance(node.value, list) else step)
            if child is None:
                break
            node = child
        return node.pointer

    def accepts_body(self, draft: Draft) -> bool:
        """Tells whether the JSON body of a draft with several mutations is valid."""
        if self.body_schema is None or not draft.has_json or draft.raw is not None:
            return True
        return bool(self.context.values.schemas.validator(self.body_schema).is_valid(draft.json))


class Planner:
    """Makes the plans of one document.

    Args:
        document: The document.
        site: The server that has its operations.
        test_data: The people, avatars and applications that the cases use.

    Attributes:
        document: The document.
        operations: Its operations, in its order.
    """

    def __init__(self, document: Document, site: CaseSite, test_data: TestData) -> None:
        self.document = document
        self.operations = operations(document)
        self._site: CaseSite = site
        self._test_data = test_data
        self._values = SchemaValues(schemas_of(document))
        self._own = interface_operations(document)
        self._plain = PlainRequests(document, site, self._values, self._own)

    @property
    def has_interface(self) -> bool:
        """True if the document has operations of the interface."""
        return bool(self._own)

    @cached_property
    def _paths(self) -> Paths:
        """Finds the methods of all templates that a path fits."""
        return Paths({"": self.operations})

    @cached_property
    def _addressed(self) -> Counter[Hashable]:
        return Counter(map(addressed, self.operations))

    @cached_property
    def _sharing(self) -> Counter[tuple[str, str]]:
        """The number of operations of each method and path."""
        return Counter((it.method, path_shape(it.path)) for it in self.operations)

    @cached_property  # needed by the plan of every operation
    def _methods(self) -> Mapping[str, frozenset[str]]:
        methods: dict[str, frozenset[str]] = {}
        for operation in self.operations:
            shape = path_shape(operation.path)
            methods[shape] = methods.get(shape, frozenset()) | {operation.method}
        return methods

    def plan(
        self, operation: Operation, with_known_values: DraftChange | None = None
    ) -> OperationPlan:
        """Returns the plan of an operation.

        Args:
            operation: An operation of the document.
            with_known_values: Sets values that exist at the deployment in the plain request.
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
            self.document,
            "" if prose is not None else self._doubt(operation),
            self._set_up(operation),
            self._site == "authorization" and key_of(operation.method, operation.path) == TOKEN,
        )

    def _doubt(self, operation: Operation) -> str:
        if self._addressed[addressed(operation)] > 1:
            return f"another path is the same as {operation.path} but for its parameters' names"
        part = self._plain.uncertain_part(operation)
        return part and f"no value was found that the schema of {part} takes"

    @cached_property
    def _by_key(self) -> Mapping[str, Operation]:
        """The operations by their names in ``interface.operations``."""
        return keyed(self.operations)

    @property
    def _upload(self) -> Operation | None:
        """The operation that creates an avatar; None if the document has none."""
        return self._by_key[UPLOAD_AVATAR] if UPLOAD_AVATAR in self._own else None

    def _set_up(self, operation: Operation) -> SetUp | None:
        key = key_of(operation.method, operation.path)
        if self._site == "authorization":
            return self._credential_set_up(key)
        if self._upload is None or key not in AVATAR_CHANGES:
            return None
        return SetUp(self._plain.draft(self._upload).request(), is_shared=key != DELETE_AVATAR)

    def _credential_set_up(self, key: str) -> SetUp | None:
        """Returns the request for the code that a token request needs, or for a token to validate."""
        if key == TOKEN:
            request = authorization_server.code_request(self._test_data)
            return request and SetUp(request, is_shared=False, variable=CODE, member="code")
        token = self._by_key.get(TOKEN)
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
            is_deletable = "DELETE" in self._methods[path_shape(operation.path)]
            success = _by_state(context.success, operation, is_deletable=is_deletable)
            return replace(context, success=success)
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
        operation = context.operation
        media_type, schema = body_of(operation)
        yield from self._parameter_mutations(context)
        if schema is not None and is_json(media_type):
            yield from bodies.json_mutations(context, schema)
        if schema is not None and media_type == URLENCODED:
            yield from bodies.form_mutations(context, schema)
        if schema is not None and media_type == MULTIPART:
            for name in self._plain.file_fields(schema):
                yield from uploads.mutations(context, schema, name)
        if media_type and context.plain.request().body:
            yield from protocol.content_types(context, media_type)
        taken = self._paths.allowed(decoded_path(context.plain.request().path))
        yield from protocol.mutations(
            context, self._methods[path_shape(operation.path)] | frozenset(taken)
        )
        yield from self._bearer_mutations(context)
        if prose is not None:
            yield from prose.mutations(context)

    def _parameter_mutations(self, context: OperationContext) -> Iterator[Mutation]:
        operation = context.operation
        is_shared = self._sharing[operation.method, path_shape(operation.path)] > 1
        marks = distinguishing(operation) if is_shared else []
        for parameter in operation.parameters:
            for mutation in parameters.mutations(context, parameter):
                # without what distinguishes it, a request addresses another operation
                if mutation.kind != "invalid" or parameter not in marks:
                    yield mutation

    def _bearer_mutations(self, context: OperationContext) -> Iterator[Mutation]:
        access = self._plain.bearer_access(context.operation)
        if not access:
            return
        # Mocks of other documents may accept any token, as this mock does by default.
        is_checked = context.is_interface_operation or self._test_data.is_token_checked
        for mutation in protocol.bearer_mutations(context, is_required=access == "required"):
            is_left_out = not mutation.apply(context.plain).has_header("Authorization")
            if is_checked or is_left_out or mutation.kind != "invalid":
                yield mutation
            else:
                yield mutation._replace(kind="open", statuses=OPEN)

    def _generators(self, context: OperationContext) -> Iterator[Generator]:
        media_type, schema = body_of(context.operation)
        for parameter in context.operation.parameters:
            yield from parameters.generators(context, parameter)
        if schema is not None and (is_json(media_type) or media_type == URLENCODED):
            yield from bodies.json_generators(context, schema, is_form=media_type == URLENCODED)
        if schema is not None and media_type == MULTIPART:
            for name in self._plain.file_fields(schema):
                yield from uploads.generators(name, context)
        yield from protocol.generators(context)
        is_checked = context.is_interface_operation or self._test_data.is_token_checked
        if is_checked and self._plain.bearer_access(context.operation):
            yield from protocol.bearer_generators(context)


def _success(operation: Operation) -> ExpectedResponse:
    """Returns the expected response to a valid request: 2XX, and declared redirects.

    If the document declares only errors, these are expected as well.
    """
    declared = tuple(status for status in operation.responses if status[0] in "23")
    because = f"{operation.pointer}/responses"
    if operation.responses and not declared and "default" not in operation.responses:
        return ExpectedResponse(("2XX", *operation.responses), because)
    if operation.method == "GET" and declared == ("200", "302"):
        return ExpectedResponse(declared, because)
    return ExpectedResponse(("2XX", *(s for s in declared if s[0] == "3")), because)


_STATE = frozenset({"401", "403", "404", "409", "410", "412", "423", "428"})
"""Refusals that depend on the service's state or the caller, so that valid requests may get them."""


def _by_state(
    success: ExpectedResponse, operation: Operation, *, is_deletable: bool
) -> ExpectedResponse:
    """Returns the expected response to a valid request to another service, whose state is unknown.

    The addressed item may be missing (404, 410), or the item to create may exist already (409), even
    if the document does not declare these statuses.
    """
    in_path = any(parameter.location == "path" for parameter in operation.parameters)
    in_body = operation.method in {"PUT", "PATCH", "DELETE"} and operation.request_body is not None
    missing = {"404", "410"} if in_path or in_body or is_deletable else set()
    taken = {"409"} if operation.method in {"POST", "PUT"} else set()
    allowed = sorted((_STATE & {*operation.responses}) | missing | taken)
    return success._replace(statuses=tuple(dict.fromkeys((*success.statuses, *allowed))))
