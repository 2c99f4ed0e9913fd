"""Finds collections and single resources in a document, and says how sure that is and why.

A collection is a path that items are created at, beside a path with one parameter more that they are
read, changed or deleted at, if the bodies of both share members and one member identifies an item.
What too little speaks for is not claimed: a response made up from the document is better than a
state that the service does not have.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Final

from understudy.collections.bodies import (
    JSON_PATCH,
    PathGroup,
    action_changes,
    arrays,
    by_referring_name,
    collection_key,
    identifier_member,
    identifying_names,
    is_open,
    opened,
    parents_of,
    path_parameter_schema,
    paths_by_key,
    places,
    references_of,
    request_media,
    request_schema,
    response_schema,
    schema_at,
    success,
    types_of,
)
from understudy.collections.conflicts import unique_members
from understudy.collections.model import (
    Evidence,
    ResourceCollection,
    ResourceModel,
    ResourceOperation,
    ResourceSingleton,
    Role,
    Steps,
)
from understudy.collections.names import canonical, is_no_status, is_plural, singular, stages
from understudy.collections.state_models import (
    CollectionEntry,
    StateModel,
    load_state_model,
    with_collections,
    with_singletons,
)
from understudy.errors import StartupError
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, operations
from understudy.openapi.schemas import Schemas

_SHARED: Final = 0.5
"""The least share of common members with which two schemas are of one thing."""


def draft_collection(place: PathGroup, schemas: Schemas) -> ResourceCollection | None:
    """Returns the collection at a place, however sure it is; None where nothing creates an item."""
    return _Draft(place, schemas).collection()


class _Draft:
    """Infers one collection from the operations at one place."""

    def __init__(self, place: PathGroup, schemas: Schemas) -> None:
        self._place = place
        self._schemas = schemas
        self._evidence = Evidence()
        self._operations: list[ResourceOperation] = []
        self._item_path = place.items[0].path if place.items else place.parent_path
        self._parameter = (self._item_path or "").rpartition("{")[2].partition("}")[0]
        self._name = [part for part in place.key.split("/") if part and "{" not in part][-1:]
        self._names = identifying_names(self._parameter or "id", "".join(self._name))
        self._schema = self._item_schema()
        self._members = schemas.members(self._schema)
        self._is_catalogue = False  # items are only read and listed
        own = (place.find_item("GET"), place.find("GET"), place.find("POST"))
        declared = [it for it in own if it is not None]
        # the document does not describe the item when it is read
        self._is_open = bool(declared) and all(is_open(schemas, it) for it in declared)
        put = place.find_item("PUT")
        # whether an item is there is all that there is to say: nothing is sent or read of it
        self._is_membership = (
            put is not None and put.request_body is None and place.find_item("DELETE") is not None
        )

    def collection(self) -> ResourceCollection | None:
        if not self._name:
            return None
        create = self._place.find("POST") or self._creating_put()
        upsert = self._place.find_item("PUT")
        self._is_catalogue = create is None and upsert is None
        if not self._is_catalogue:
            self._add_create(create)
        self._add_list()
        identifier = self._identifier()
        for operation in self._place.items:
            self._add_item_operation(operation)
        self._add_replace_at_collection(identifier)
        self._add_actions()
        self._weigh()
        self._add_other_changes()
        own, above = next(iter(self._place.own), None), self._item_path or self._place.key
        return ResourceCollection(
            path=own.path if own else above.rstrip("/").rpartition("/")[0],
            item_path=self._item_path,
            identifier=identifier,
            schema=self._schema,
            operations=tuple(self._operations),
            confidence=self._evidence.confidence,
            reasons=tuple(self._evidence.reasons),
        )

    def _item_schema(self) -> Node | None:
        """Returns the schema of an item: as it is read, else as it is changed, created or listed."""
        find, find_item = self._place.find, self._place.find_item
        for operation in (find_item("GET"), find_item("PUT"), find_item("PATCH"), find("POST")):
            _, item = opened(self._schemas, response_schema(operation), self._names)
            if self._schemas.members(item):
                return item
        for _, items in arrays(self._schemas, response_schema(find("GET"))):
            if self._schemas.members(items):
                return items
        for operation in (find("POST"), find_item("PUT")):
            _, item = opened(self._schemas, request_schema(operation), self._names)
            if self._schemas.members(item):
                return item
        return None

    def _identifier(self) -> str | None:
        typed = None
        for operation in self._place.items[:1]:
            typed = path_parameter_schema(operation, self._parameter)
        match = identifier_member(
            self._parameter or "id", self._name[0], self._members, self._schemas, typed
        )
        if match is not None:
            name, weight, reason = match
            self._evidence.add(weight, reason)
            return name
        if self._is_open and self._parameter:
            name = self._names[1] if len(self._names) > 1 and self._names[1] == "id" else ""
            self._evidence.add(0.1, "no response has a schema, so items get an identifier")
            return name or self._parameter
        if self._place.find_item("PUT") is not None:
            self._evidence.add(0.15, f"items are put at the {{{self._parameter}}} of the client")
        else:
            self._evidence.add(-0.3, "no member identifies an item")
        return None

    def _creating_put(self) -> Operation | None:
        """Returns a PUT at the collection that takes no identifier, and responds with one."""
        put, own = self._place.find("PUT"), set(map(canonical, self._members))
        if put is None or self._place.find_item("PUT") or not self._shows_item(put):
            return None
        sent = set(map(canonical, self._schemas.members(request_schema(put))))
        is_new = next((it for it in self._names if it in own), "") not in sent
        return put if is_new and (self._request(put)[1] or 0) >= _SHARED else None

    def _add_create(self, create: Operation | None) -> None:
        if create is None:
            self._evidence.add(0.35, "PUT creates an item at its path")
            return
        media = request_media(create)
        shows_item = self._shows_item(create)
        if media is None and not (shows_item and self._item_path):
            self._evidence.add(-0.5, f"POST {create.path} takes neither JSON nor a form")
            return
        self._evidence.add(0.4, f"{create.method} {create.path} creates an item")
        steps, share = self._request(create)
        if media is None or (shows_item and self._item_path and (share or 0) < _SHARED):
            self._evidence.add(0.2, "its response has the item, whatever is sent")
        elif share is None:
            self._evidence.add(0.05, "the schema of the created item names no members")
        elif share >= _SHARED:
            self._evidence.add(
                0.25, f"{share:.0%} of the members sent are in the item that is read"
            )
        else:
            self._evidence.add(-0.35, f"only {share:.0%} of the members sent are in the item")
        declared = success(create)
        if declared is not None and declared[0] == 201:  # noqa: PLR2004 - RFC 9110, 15.3.2: Created
            self._evidence.add(0.05, "it responds 201 Created")
        takes_list = media is not None and "array" in self._schemas.types(media.schema)
        response = self._list_steps(create) if takes_list else self._response(create)
        self._operations.append(
            ResourceOperation("create", create, steps, response, takes_list=takes_list)
        )

    def _add_list(self) -> None:
        listing = self._place.find("GET")
        if listing is not None and self._list_steps(listing) is not None:
            self._evidence.add(0.1, f"GET {listing.path} lists the same items")
        listings = [listing] if listing else []
        for operation in listings + [it for it in self._place.searches if it is not listing]:
            steps = self._list_steps(operation)
            if steps is not None:
                self._operations.append(ResourceOperation("list", operation, (), steps))

    def _shows_item(self, operation: Operation) -> bool:
        """Tells whether a success has an item, with a member that identifies it."""
        steps = self._response(operation)
        schema = schema_at(self._schemas, response_schema(operation), steps or ())
        own = {canonical(name) for name in self._schemas.members(schema)}
        return steps is not None and bool(own & set(self._names))

    def _list_steps(self, operation: Operation) -> Steps | None:
        """Returns the place of the list of items in a response, or None."""
        if operation.method == "GET" and is_open(self._schemas, operation):
            schema = response_schema(operation)
            if self._schemas.types(schema) != {"object"}:
                return ()
            values = schema and self._schemas.follow(schema).child("additionalProperties")
            # a map of texts or of dates has no place for a list
            has_place = "array" in (self._schemas.types(values) or {"array"})
            return (operation.path.rpartition("/")[2],) if has_place else None
        for steps, items in arrays(self._schemas, response_schema(operation)):
            share = self._share(items)
            if share is not None and share >= _SHARED:
                return steps
        return None

    def _add_item_operation(self, operation: Operation) -> None:
        role = _ROLES.get(operation.method)
        if operation.method == "POST" and self._place.find_item("PATCH") is None:
            role = "update"
        if role is None:
            return
        response = self._response(operation)
        if role == "read" and response is None and not self._is_membership:
            return  # a picture or a text of the item
        steps: Steps = ()
        if role in {"replace", "update"}:
            media = request_media(operation)
            steps, share = self._request(operation)
            is_patch = operation.request_body and JSON_PATCH in operation.request_body.content
            is_without = media is None and not (role == "replace" and self._is_membership)
            if is_without or (share is not None and share < _SHARED and not is_patch):
                return
        self._operations.append(ResourceOperation(role, operation, steps, response))

    def _add_other_changes(self) -> None:
        """Adds changes by members that items do not show, such as a list of operations.

        They speak for nothing, but what responds of an item that is read has to be about that item.
        """
        roles = {it.role for it in self._operations}
        taken = {it.key for it in self._operations}
        methods = ("PUT", "PATCH") if "create" in roles else ("PATCH",)
        for operation in self._place.items if "read" in roles else ():
            if operation.method in methods and (operation.method, operation.path) not in taken:
                response = self._response(operation)
                self._operations.append(ResourceOperation("update", operation, (), response))

    def _add_replace_at_collection(self, identifier: str | None) -> None:
        """Adds ``PUT /pets`` and ``PATCH /pets``, whose body has the identifier."""
        roles: tuple[tuple[str, Role], ...] = (("PUT", "replace"), ("PATCH", "update"))
        for method, role in roles:
            operation = self._place.find(method)
            if operation is None or self._place.find_item(method) is not None or identifier is None:
                continue
            steps, share = self._request(operation)
            _, item = opened(self._schemas, request_schema(operation), self._names)
            if share and share >= _SHARED and identifier in self._schemas.members(item):
                response = self._response(operation)
                self._operations.append(ResourceOperation(role, operation, steps, response))

    def _add_actions(self) -> None:
        for verb, operation in self._place.actions:
            changes = action_changes(verb, self._members, self._schemas)
            if changes:
                response = self._response(operation)
                self._operations.append(
                    ResourceOperation("action", operation, (), response, changes)
                )

    def _weigh(self) -> None:
        roles = {it.role for it in self._operations}
        if self._is_catalogue and roles >= {"read", "list"}:
            self._evidence.add(0.4, "items are listed, and read one by one")
        if not self._place.items and self._item_path and "list" in roles:
            self._evidence.add(
                0.4, f"what is below {self._item_path} belongs to items that are listed"
            )
        if not self._is_catalogue and not roles & {"create", "replace"}:
            self._evidence.add(
                -0.5, "no request has an item to create: PUT takes other members, or none"
            )
        if self._place.items:
            self._weigh_uses(roles)
        elif "list" not in roles:
            self._evidence.add(-0.5, "nothing reads what is created")

    def _weigh_uses(self, roles: Set[Role]) -> None:
        if roles & {"read", "list"}:
            self._evidence.add(0.1, "an item that was created can be read")
        else:
            self._evidence.add(-0.3, "nothing reads what is created")
        if not roles & {"read", "replace", "update", "delete"}:
            self._evidence.add(-0.5, f"nothing is done at {self._item_path}")
        if is_plural(self._name[0]):
            self._evidence.add(0.05, f"{self._name[0]} is a plural")

    def _request(self, operation: Operation) -> tuple[Steps, float | None]:
        """Returns the place of the item in a request, and the share of members it has in common."""
        media = request_media(operation)
        if media is None or media.schema is None:
            return (), None
        schema = media.schema
        if "array" in types_of(self._schemas, schema):
            schema = self._schemas.items(schema) or schema
        steps, item = opened(self._schemas, schema, self._names)
        share = self._share(item)
        if (share or 0) < _SHARED:
            for name, member in self._schemas.members(schema).items():
                inner = self._share(member)
                if inner is not None and inner >= _SHARED:
                    return (name,), inner
        return steps, share

    def _response(self, operation: Operation) -> Steps | None:
        """Returns the place of the item in a response, or None where it has none."""
        schema = response_schema(operation)
        if "array" in self._schemas.types(schema):
            return None
        is_shown = schema is not None or operation.method == "GET"
        if is_shown and is_open(self._schemas, operation):
            return ()
        steps, item = opened(self._schemas, schema, self._names)
        share = self._share(item)
        if item is None or (share is not None and share < _SHARED):
            return None
        return steps if self._schemas.members(item) or not self._members else None

    def _share(self, schema: Node | None) -> float | None:
        """Returns the share of a schema's members that an item has too; None if it names none."""
        if schema is None or not self._members:
            return None
        own = {canonical(name) for name in self._members}
        other = {canonical(name) for name in self._schemas.members(schema)}
        return len(own & other) / len(other) if other else None


_ROLES: dict[str, Role] = {"GET": "read", "PUT": "replace", "PATCH": "update", "DELETE": "delete"}


def find_singletons(
    declared: Sequence[Operation], taken: Collection[tuple[str, str]], schemas: Schemas
) -> list[ResourceSingleton]:
    """Returns the single resources, however sure they are.

    Args:
        declared: The operations of a document.
        taken: Method and path of those that belong to a collection.
        schemas: Reads the schemas of their bodies.
    """
    by_key: dict[str, dict[str, Operation]] = {}
    for operation in declared:
        key = collection_key(operation.path)
        if not key.endswith("{}") and (operation.method, operation.path) not in taken:
            by_key.setdefault(key, {})[operation.method] = operation
    candidates = (_singleton(methods, schemas) for methods in by_key.values())
    return [singleton for singleton in candidates if singleton is not None]


def _singleton(methods: dict[str, Operation], schemas: Schemas) -> ResourceSingleton | None:
    changing = [methods[method] for method in ("PUT", "PATCH") if method in methods]
    if "GET" not in methods or not changing or "POST" in methods:
        return None
    read = methods["GET"]
    steps, schema = _single_item(response_schema(read), schemas)
    members = schemas.members(schema)
    if schema is None or not members or any(True for _ in arrays(schemas, schema, depth=0)):
        return None
    evidence = Evidence()
    evidence.add(0.5, f"GET {read.path} reads one object")
    found: list[ResourceOperation] = [ResourceOperation("read", read, (), steps)]
    for operation in changing:
        body_steps, body = _single_item(request_schema(operation), schemas)
        sent = schemas.members(body)
        share = len(sent.keys() & members.keys()) / len(sent) if sent else 0.0
        if share < 0.5:  # noqa: PLR2004 - half of the members, as for collections
            evidence.add(-0.2, f"{operation.method} takes other members ({share:.0%} are read)")
            continue
        evidence.add(0.35, f"{operation.method} takes {share:.0%} of the members that are read")
        place, shown = _single_item(response_schema(operation), schemas)
        response = place if schemas.members(shown).keys() & members.keys() else None
        role = _ROLES[operation.method]
        found.append(ResourceOperation(role, operation, body_steps, response))
    if "DELETE" in methods:
        found.append(ResourceOperation("delete", methods["DELETE"]))
    reasons = tuple(evidence.reasons)
    return ResourceSingleton(
        read.path, schema, tuple(found), confidence=evidence.confidence, reasons=reasons
    )


def _single_item(schema: Node | None, schemas: Schemas) -> tuple[tuple[str, ...], Node | None]:
    """Opens an envelope with one member: ``{data: {…}}``."""
    members = schemas.members(schema)
    objects = [name for name, member in members.items() if schemas.members(member)]
    is_envelope = len(objects) == 1 and objects[0] in {"data", "result", "response", "payload"}
    if is_envelope and len(members) <= 3:  # noqa: PLR2004 - data, and what is beside it: meta, links
        return (objects[0],), members[objects[0]]
    return (), schema


INFERRED: Final = StateModel()
"""States nothing: all is inferred."""


def find_resources(document: Document, stated: StateModel = INFERRED) -> ResourceModel:
    """Finds the collections and single resources of a document.

    Args:
        document: A document of any service.
        stated: What is known better: the content of a state-model file.

    Raises:
        StartupError: A part of the document is not as OpenAPI has it, or the state model names what
            the document does not have.
    """
    schemas = Schemas(document)
    declared = operations(document)
    drafts = [draft_collection(place, schemas) for place in places(declared).values()]
    corrected = with_collections([it for it in drafts if it], stated, declared, schemas)
    collections = _related(_with_scoped(corrected, declared, schemas), stated, schemas)
    paths = paths_by_key([it for it in collections if it.is_certain])
    taken = {operation.key for it in collections for operation in it.operations}
    singletons = [
        replace(it, parents=parents_of(it.path, paths))
        for it in with_singletons(find_singletons(declared, taken, schemas), stated.singletons)
    ]
    return ResourceModel(
        tuple(it for it in collections if it.is_certain),
        tuple(it for it in singletons if it.is_certain),
        tuple(it for it in collections if not it.is_certain)
        + tuple(it for it in singletons if not it.is_certain),
    )


_SCOPED: Final[Mapping[str, Role]] = {"GET": "list", "POST": "create"}
_BEGUN: Final = frozenset({"201", "202"})
"""Statuses of what creates an item of another collection than the path is of."""


def _with_scoped(
    drafts: Sequence[ResourceCollection], declared: Sequence[Operation], schemas: Schemas
) -> list[ResourceCollection]:
    """Adds what lists or creates items elsewhere: of a parent, of all parents, or by an action.

    ``/customers/{customerId}/orders`` lists orders, ``/repos`` what is at ``/repos/{owner}/{repo}``, and
    ``/videos/{id}/transcode`` creates a job if its response is what ``/jobs/{id}`` reads.
    """
    drafts = list(_without_lists_of_all(drafts, schemas))
    taken = {operation.key for it in drafts if it.is_certain for operation in it.operations}
    near: dict[str, list[Operation]] = {}
    for operation in declared:
        if operation.method in _SCOPED and (operation.method, operation.path) not in taken:
            near.setdefault(_last(operation.path), []).append(operation)
            for _, shown in _shown(operation, schemas):
                near.setdefault(schemas.follow(shown).pointer, []).append(operation)
    scoped = []
    for draft in drafts:
        found: dict[tuple[str, str], ResourceOperation] = {}
        if draft.is_certain and draft.schema is not None:
            for key in (_last(draft.path), schemas.follow(draft.schema).pointer):
                roles = (_scoped(it, draft, schemas) for it in near.get(key, ()))
                found |= {it.key: it for it in roles if it is not None}
        operations = (*draft.operations, *found.values())
        stages_of = _stages(operations, draft.schema, schemas)
        scoped.append(replace(draft, operations=operations, stages=stages_of))
    return scoped


def _last(path: str) -> str:
    """Returns the last segment of a path."""
    return path.rstrip("/").rpartition("/")[2]


def _without_lists_of_all(
    drafts: Sequence[ResourceCollection], schemas: Schemas
) -> Iterator[ResourceCollection]:
    """Yields collections without those that only list what is at keys of several parts below them."""
    paths: dict[str, list[str]] = {}
    for draft in drafts:
        if draft.schema is not None:
            paths.setdefault(schemas.follow(draft.schema).pointer, []).append(draft.path)
    for draft in drafts:
        pointer = "" if draft.schema is None else schemas.follow(draft.schema).pointer
        is_only_listed = {it.role for it in draft.operations} == {"list"}
        below = f"{draft.path.rstrip('/')}/{{"
        if not (is_only_listed and any(it.startswith(below) for it in paths.get(pointer, ()))):
            yield draft


def _shown(operation: Operation, schemas: Schemas) -> Iterator[tuple[Steps, Node]]:
    """Yields the place and the schema of the items that an operation lists, or of one that it creates."""
    schema = response_schema(operation)
    if operation.method == "GET":
        yield from arrays(schemas, schema)
    elif schema is not None:
        steps, item = _single_item(schema, schemas)
        yield steps, item or schema


def _scoped(
    operation: Operation, collection: ResourceCollection, schemas: Schemas
) -> ResourceOperation | None:
    """Returns an operation at another path in its role in a collection; None where it is of others."""
    role, above = _SCOPED[operation.method], operation.path.rstrip("/")
    head, is_alone = above.rpartition("/")[0], "{" not in collection.path
    is_parents = head.endswith("}") and head.count("{") == 1 and is_alone
    is_parents = is_parents and _last(above) == _last(collection.path)
    is_of_all = role == "list" and f"{collection.path}/".startswith(f"{above}/{{")
    begins = role == "create" and is_alone and collection.operation("create") is None
    begins = begins and "{" in above and bool(_BEGUN & set(operation.responses))
    scope = {} if is_of_all else _scope(operation, collection, schemas)
    members = schemas.members(collection.schema).keys()
    for steps, shown in _shown(operation, schemas):
        own = schemas.members(shown).keys()
        is_alike = own and len(own & members) >= _SHARED * len(own)
        is_named = role == "create" or any(scope.values())
        is_same = (
            schemas.follow(shown).pointer == schemas.follow(collection.schema or shown).pointer
        )
        if (is_parents and is_alike and is_named) or (is_same and (is_of_all or begins)):
            return ResourceOperation(role, operation, (), steps, scope=scope)
    return None


def _scope(
    operation: Operation, collection: ResourceCollection, schemas: Schemas
) -> dict[str, str]:
    """Returns the last parameter of a path, with the member of an item that says the same, or none."""
    parent, _, parameter = operation.path.rpartition("}")[0].rpartition("/{")
    one = singular(parent.rpartition("/")[2])
    names = (canonical(parameter), one + canonical(parameter), f"{one}id", one)
    members = schemas.members(collection.schema)
    by_name = {canonical(name): name for name in members if name != collection.identifier}
    return {parameter: next((by_name[name] for name in names if name in by_name), "")}


def _stages(
    declared: Sequence[ResourceOperation], schema: Node | None, schemas: Schemas
) -> dict[str, tuple[str, ...]]:
    """Returns the member by which a job says how far it is, where creations are carried out later."""
    creations = (it.operation for it in declared if it.role == "create")
    members = schemas.members(schema)
    if any("202" in it.responses for it in creations):
        for name in sorted(members, key=is_no_status):
            found = stages(schemas.keyword(members[name], "enum") or ())
            if found:
                return {name: found}
    return {}


def infer_resources(document: Document, state_model: Path | None = None) -> ResourceModel:
    """Finds the resources of a document, corrected by a state-model file if there is one.

    Raises:
        StartupError: The document or the file is not as it must be; the text names the file.
    """
    if state_model is None:
        return find_resources(document)
    stated = load_state_model(state_model)
    try:
        return find_resources(document, stated)
    except StartupError as error:
        msg = f"{state_model}: {error}"
        raise StartupError(msg) from error


def _related(
    drafts: Sequence[ResourceCollection], stated: StateModel, schemas: Schemas
) -> list[ResourceCollection]:
    """Adds parents, references and unique members, which depend on the other collections."""
    certain = [it for it in drafts if it.is_certain]
    paths, targets = paths_by_key(certain), by_referring_name(certain)
    related = []
    for draft in drafts:
        members = schemas.members(draft.schema)
        entry = stated.collections.get(draft.path, CollectionEntry())
        references = entry.references
        if references is None:
            references = references_of(members, draft.identifier, targets, schemas)
        unique = unique_members(draft, members, schemas) if entry.unique is None else entry.unique
        parents = parents_of(draft.path, paths)
        related.append(replace(draft, parents=parents, references=references, unique=unique))
    return related
