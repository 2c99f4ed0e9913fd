"""Finds collections and single resources in a document, each with a confidence and its reasons.

A collection is a path at which items are created, and a path with one parameter more at which they are
read, changed or deleted, if the bodies of both share members and one member identifies an item.
Resources with too little evidence are left out: a response generated from the document is better than
a state that the service does not have.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from understudy.collections import bodies
from understudy.collections.addresses import (
    deletion_of_several,
    identifier_around,
    single_item,
    with_scoped,
)
from understudy.collections.constraints import references_of, referring_names, unique_members
from understudy.collections.model import (
    Evidence,
    ResourceCollection,
    ResourceModel,
    ResourceOperation,
    ResourceParent,
    ResourceSingleton,
    Role,
    Steps,
)
from understudy.collections.names import canonical, is_plural, renews, singular, words
from understudy.collections.state_models import (
    CollectionEntry,
    StateModel,
    load_state_model,
    with_collections,
    with_singletons,
)
from understudy.errors import StartupError
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, operations
from understudy.openapi.schemas import Schemas, schemas_of


class _Draft:
    """Infers one collection from the operations at one place."""

    def __init__(self, place: bodies.PathGroup, schemas: Schemas) -> None:
        self._place = place
        self._schemas = schemas
        self._evidence = Evidence()
        self._operations: list[ResourceOperation] = []
        self._item_path = _usual_path(place.items) or place.parent_path
        self._parameter = (self._item_path or "").rpartition("{")[2].partition("}")[0]
        self._name = [part for part in place.key.split("/") if part and "{" not in part][-1:]
        names = bodies.identifying_names(self._parameter or "id", "".join(self._name))
        listed = bodies.arrays(schemas, bodies.response_schema(place.find("GET")))
        items = (single_item(it, schemas)[1] or it for _, it in listed)
        # the schema of a listed item is that of the item in every other body, too
        self._names = (*names, *(schemas.follow(it).pointer for it in items))
        self._schema = self._item_schema()
        self._members = schemas.members(self._schema)
        typed = (bodies.path_parameter_schema(it, self._parameter) for it in place.items[:1])
        self._typed = next(typed, None)
        named = self._parameter or "id", "".join(self._name)
        self._match = bodies.identifier_member(*named, self._members, schemas, self._typed)
        self._match = self._match or self._only_identifier()
        if self._match is None and self._members:
            self._match = identifier_around(*named, place, schemas, self._typed)
        self._is_catalogue = False  # items are only read and listed
        own = (place.find_item("GET"), place.find("GET"), place.find("POST"))
        declared = [it for it in own if it is not None]
        # no response has a schema that describes the item
        self._is_open = bool(declared) and all(bodies.is_open(schemas, it) for it in declared)
        put = place.find_item("PUT")
        # an item has no content: it exists or not, such as a user that another one follows
        self._is_membership = (
            put is not None and put.request_body is None and place.find_item("DELETE") is not None
        )

    def collection(self) -> ResourceCollection | None:
        """Returns the collection with its confidence; None if the place cannot be one."""
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
        self._add_at_collection(identifier)
        self._add_actions(identifier)
        self._weigh()
        self._add_other_changes()
        self._add_further(identifier)
        own, above = next(iter(self._place.own), None), self._item_path or self._place.key
        named = [replace(it, named_by=self._named_by(it, identifier)) for it in self._operations]
        return ResourceCollection(
            path=own.path if own else above.rstrip("/").rpartition("/")[0],
            item_path=self._item_path,
            identifier=identifier,
            schema=self._schema,
            operations=tuple(it for it in named if not it.named_by),
            others=tuple(it for it in named if it.named_by),
            confidence=self._evidence.confidence,
            reasons=tuple(self._evidence.reasons),
        )

    def _named_by(self, role: ResourceOperation, identifier: str | None) -> str:
        """Returns the member with the text of an item's path, if it is not the identifier: ``/pets/{slug}``."""
        start, _, name = role.operation.path.rpartition("{")
        if not start or (self._item_path or "").rpartition("{")[0] != start:
            return ""
        parameter = canonical(name.partition("}")[0])
        names = {parameter, parameter.removeprefix(singular(self._name[0]))}
        if parameter == canonical(self._parameter) or canonical(identifier or "") in names:
            return ""
        return next((it for it in self._members if canonical(it) in names), "")

    def _item_schema(self) -> Node | None:
        """Returns the schema of an item from the first operation that has one, reading first."""
        find, find_item = self._place.find, self._place.find_item
        for operation in (find_item("GET"), find_item("PUT"), find_item("PATCH"), find("POST")):
            _, item = bodies.opened(self._schemas, bodies.response_schema(operation), self._names)
            if self._schemas.members(item):
                return item
        for _, items in bodies.arrays(self._schemas, bodies.response_schema(find("GET"))):
            if self._schemas.members(items):
                return items
        for operation in (find("POST"), find_item("PUT")):
            _, item = bodies.opened(self._schemas, bodies.request_schema(operation), self._names)
            if self._schemas.members(item):
                return item
        return None

    def _identifier(self) -> str | None:
        if bodies.types_of(self._schemas, self._typed) == {"array"}:
            self._evidence.add(-1.0, f"{{{self._parameter}}} names several items at once")
            return None
        if self._match is not None:
            name, weight, reason = self._match
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

    def _only_identifier(self) -> tuple[str, float, str] | None:
        """Returns the only member with the ending of an identifier that the server sets, with its weight."""
        sent = self._schemas.members(bodies.request_schema(self._place.find("POST")))
        own = [
            it for it in self._members if set(words(it)[-1:]) & {*bodies.ENDINGS} and it not in sent
        ]
        fitting = (bodies.agree(self._schemas, self._typed, self._members[it]) for it in own)
        if len(own) != 1 or not self._place.items or not next(fitting):
            return None
        return own[0], 0.2, f"the member {own[0]} alone can identify an item"

    def _creating_put(self) -> Operation | None:
        """Returns a PUT on the collection whose request has no identifier and whose response has one."""
        put, own = self._place.find("PUT"), set(map(canonical, self._members))
        if put is None or not self._shows_item(put):
            return None
        if self._place.find_item("PUT") and (bodies.success(put) or (0,))[0] != _CREATED:
            return None
        members = self._schemas.members(bodies.request_schema(put)).items()
        sent = {canonical(n) for n, it in members if not self._schemas.is_flagged(it, "readOnly")}
        is_new = next((it for it in self._names if it in own), "") not in sent
        return put if is_new and (self._request(put)[1] or 0) >= bodies.SHARED else None

    def _add_create(self, create: Operation | None) -> None:
        if create is None:
            self._evidence.add(0.35, "PUT creates an item at its path")
            return
        media = bodies.request_media(create)
        shows_item = self._shows_item(create)
        if media is None and not (shows_item and self._item_path):
            self._evidence.add(-0.5, f"POST {create.path} takes neither JSON nor a form")
            return
        self._evidence.add(0.4, f"{create.method} {create.path} creates an item")
        _, share = self._request(create)
        if media is None or (shows_item and self._item_path and (share or 0) < bodies.SHARED):
            self._evidence.add(0.2, "its response has the item, whatever is sent")
        elif share is None:
            self._evidence.add(0.05, "the schema of the created item names no members")
        elif share >= bodies.SHARED:
            self._evidence.add(
                0.25, f"{share:.0%} of the members sent are in the item that is read"
            )
        else:
            self._evidence.add(-0.35, f"only {share:.0%} of the members sent are in the item")
        declared = bodies.success(create)
        if declared is not None and declared[0] == _CREATED:
            self._evidence.add(0.05, "it responds 201 Created")
        self._operations.append(self._creation(create))

    def _add_list(self) -> None:
        listing = self._place.find("GET")
        if listing is not None and self._list_place(listing) is not None:
            self._evidence.add(0.1, f"GET {listing.path} lists the same items")
        listings = [listing] if listing else []
        for operation in listings + [it for it in self._place.searches if it is not listing]:
            place = self._list_place(operation)
            if place is not None:
                steps, within = place
                self._operations.append(
                    ResourceOperation("list", operation, (), steps, within=within)
                )

    def _shows_item(self, operation: Operation) -> bool:
        """Tells whether a successful response has an item with an identifying member."""
        steps = self._response(operation)
        schema = bodies.schema_at(self._schemas, bodies.response_schema(operation), steps or ())
        own = {canonical(name) for name in self._schemas.members(schema)}
        return steps is not None and bool(own & set(self._names))

    def _list_place(self, operation: Operation) -> tuple[Steps, Steps] | None:
        """Returns the place of the list in a response, and of the item in each entry; None without one."""
        if operation.method == "GET" and bodies.is_open(self._schemas, operation):
            schema = bodies.response_schema(operation)
            if self._schemas.types(schema) != {"object"}:
                return (), ()
            values = schema and self._schemas.follow(schema).child("additionalProperties")
            # the values of a map of texts or dates cannot be lists
            has_place = "array" in (self._schemas.types(values) or {"array"})
            return ((operation.path.rpartition("/")[2],), ()) if has_place else None
        for steps, items in bodies.arrays(self._schemas, bodies.response_schema(operation)):
            for within, item in (((), items), single_item(items, self._schemas)):
                if (self._share(item) or 0) >= bodies.SHARED:
                    return steps, within
        return None

    def _add_at_collection(self, identifier: str | None) -> None:
        """Adds ``PUT /pets``, whose body has the identifier, and ``DELETE /pets?petId=…``, whose query has it."""
        own, one = canonical(identifier or ""), singular(self._name[0])
        taken = {it.key for it in self._operations}
        for it in self._place.own if own else ():
            is_list = it.method == "GET" and self._list_place(it) is not None
            is_other = it.method not in _ROLES or self._place.find_item(it.method) is not None
            if is_list or is_other or (it.method, it.path) in taken:
                continue
            needed = [
                each.name for each in it.parameters if each.location == "query" and each.required
            ]
            steps, share = self._request(it)
            _, item = bodies.opened(self._schemas, bodies.request_schema(it), self._names)
            named = self._schemas.members(item).get(identifier or "")
            is_sent = named is not None and not self._schemas.is_flagged(named, "readOnly")
            if len(needed) == 1 and canonical(needed[0]) in {own, one + own}:
                self._add_item_operation(it, *needed)
            elif is_sent and share and share >= bodies.SHARED and it.method in {"PUT", "PATCH"}:
                response = self._response(it)
                self._operations.append(ResourceOperation(_ROLES[it.method], it, steps, response))

    def _add_further(self, identifier: str | None) -> None:
        """Adds other operations that create items, and those that delete the items of a list."""
        own = [it for it in self._place.own if it.method == "DELETE"]
        taken, roles = {it.key for it in self._operations}, {it.role for it in self._operations}
        named = identifier or self._parameter
        for it in (*own, *self._place.further):
            if (it.method, it.path) in taken:
                continue
            if it.method == "DELETE" or bodies.deletes_several(it.path):
                several = deletion_of_several(self._schemas, it, named, self._names)
                if several is not None and roles & {"create", "replace"}:
                    self._operations.append(several)
            elif (
                it.method == "POST"
                and "create" in roles
                and (self._request(it)[1] or 0) >= bodies.SHARED
            ):
                self._operations.append(self._creation(it))

    def _creation(self, operation: Operation) -> ResourceOperation:
        """Returns an operation that creates an item, or each of a list."""
        steps, _ = self._request(operation)
        sent = bodies.schema_at(self._schemas, bodies.request_schema(operation), steps)
        takes_list = "array" in self._schemas.types(sent)
        listed = self._list_place(operation) if takes_list else None
        response = self._response(operation) if listed is None else listed[0]
        return ResourceOperation("create", operation, steps, response, takes_list=takes_list)

    def _add_item_operation(self, operation: Operation, by_query: str = "") -> None:
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
            media = bodies.request_media(operation)
            steps, share = self._request(operation)
            is_patch = (
                operation.request_body and bodies.JSON_PATCH in operation.request_body.content
            )
            is_without = media is None and not (role == "replace" and self._is_membership)
            if is_without or (share is not None and share < bodies.SHARED and not is_patch):
                return
        self._operations.append(
            ResourceOperation(role, operation, steps, response, by_query=by_query)
        )

    def _add_other_changes(self) -> None:
        """Adds changes whose requests have other members than items, such as a list of operations.

        They add no evidence, but their responses must be of the item that is read.
        """
        roles = {it.role for it in self._operations}
        taken = {it.key for it in self._operations}
        methods = ("PUT", "PATCH") if "create" in roles else ("PATCH",)
        for operation in self._place.items if "read" in roles else ():
            if operation.method in methods and (operation.method, operation.path) not in taken:
                response = self._response(operation)
                self._operations.append(ResourceOperation("update", operation, (), response))

    def _add_actions(self, identifier: str | None) -> None:
        """Adds actions that change a state, and verbs in paths that stand for a method, as ``/edit``."""
        for verb, operation in self._place.actions:
            role, (steps, share) = _VERBS.get(canonical(verb)), self._request(operation)
            is_change = role == "update" and (share or 0) >= bodies.SHARED
            is_meant = is_change or (role == "delete" and operation.request_body is None)
            if role is not None and is_meant and role not in {it.role for it in self._operations}:
                changes: dict[str, object] = {}
            else:
                role, steps = "action", ()
                changes = bodies.action_changes(verb, self._members, self._schemas)
                changes.pop(identifier or "", None)
            response = self._response(operation)
            is_shown = renews(verb) and response is not None
            if changes or is_shown or role != "action":
                self._operations.append(
                    ResourceOperation(role, operation, steps, response, changes)
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
        """Returns the place of the item in a request, and the share of its members that items have."""
        media = bodies.request_media(operation)
        if media is None or media.schema is None:
            return (), None
        steps, item = bodies.opened(self._schemas, media.schema, self._names)
        if "array" in bodies.types_of(self._schemas, item):
            item = self._schemas.items(item) or item
        share = self._share(item)
        if (share or 0) >= bodies.SHARED:
            return steps, share
        members = self._schemas.members(media.schema)
        places = {(): media.schema} | {(name,): member for name, member in members.items()}
        for place, schema in places.items():
            is_list = "array" in bodies.types_of(self._schemas, schema)
            inner = self._share(bodies.item_schema(self._schemas, schema, ()))
            if (inner or 0) >= bodies.SHARED and (len(members) == 1 or not is_list):
                return place, inner
        return steps, share

    def _response(self, operation: Operation) -> Steps | None:
        """Returns the place of the item in a response; None if the response has no item."""
        schema = bodies.response_schema(operation)
        if "array" in self._schemas.types(schema):
            return None
        is_shown = schema is not None or operation.method == "GET"
        if is_shown and bodies.is_open(self._schemas, operation):
            return ()
        steps, item = bodies.opened(self._schemas, schema, self._names)
        members = self._schemas.members(item)
        if self._match and self._match[0] in {*members} - {*self._members}:  # around the item
            inner = (it for it in members if (self._share(members[it]) or 0) >= bodies.SHARED)
            return (*steps, *islice(inner, 1))
        share = self._share(item)
        if item is None or (share is not None and share < bodies.SHARED):
            return None
        return steps if self._schemas.members(item) or not self._members else None

    def _share(self, schema: Node | None) -> float | None:
        """Returns the share of a schema's members that items have; None if the schema names none."""
        if schema is None or not self._members:
            return None
        own = {canonical(name) for name in (*self._members, *(self._match or ())[:1])}
        other = {canonical(name) for name in self._schemas.members(schema)}
        return len(own & other) / len(other) if other else None


_CREATED: Final = 201
"""Status of a response after a creation (RFC 9110, 15.3.2)."""


def _usual_path(items: Sequence[Operation]) -> str | None:
    """Returns the path of items with the most operations; of several that with a DELETE, or the first."""
    paths = [it.path for it in items]
    deleted = {it.path for it in items if it.method == "DELETE"}
    return max(paths, key=lambda it: (paths.count(it), it in deleted), default=None)


_ROLES: dict[str, Role] = {"GET": "read", "PUT": "replace", "PATCH": "update", "DELETE": "delete"}
_VERBS: dict[str, Role] = {
    "edit": "update",
    "update": "update",
    "delete": "delete",
    "remove": "delete",
}


def find_singletons(
    declared: Sequence[Operation], taken: Collection[tuple[str, str]], schemas: Schemas
) -> list[ResourceSingleton]:
    """Returns the single resources, each with its confidence.

    Args:
        declared: The operations of a document.
        taken: Method and path of the operations that belong to a collection.
        schemas: Reads the schemas of bodies.
    """
    by_key: dict[str, dict[str, Operation]] = {}
    for operation in declared:
        key = bodies.collection_key(operation.path)
        if not key.endswith("{}") and (operation.method, operation.path) not in taken:
            by_key.setdefault(key, {})[operation.method] = operation
    candidates = (_singleton(methods, schemas) for methods in by_key.values())
    return [singleton for singleton in candidates if singleton is not None]


def _singleton(methods: dict[str, Operation], schemas: Schemas) -> ResourceSingleton | None:
    changing = [methods[method] for method in ("PUT", "PATCH") if method in methods]
    if "GET" not in methods or not changing or "POST" in methods:
        return None
    read = methods["GET"]
    steps, schema = single_item(bodies.response_schema(read), schemas)
    members = schemas.members(schema)
    if schema is None or not members or any(True for _ in bodies.arrays(schemas, schema, depth=0)):
        return None
    evidence = Evidence()
    evidence.add(0.5, f"GET {read.path} reads one object")
    found: list[ResourceOperation] = [ResourceOperation("read", read, (), steps)]
    for operation in changing:
        body_steps, body = single_item(bodies.request_schema(operation), schemas)
        sent = schemas.members(body)
        share = len(sent.keys() & members.keys()) / len(sent) if sent else 0.0
        if share < bodies.SHARED:
            evidence.add(-0.2, f"{operation.method} takes other members ({share:.0%} are read)")
            continue
        evidence.add(0.35, f"{operation.method} takes {share:.0%} of the members that are read")
        place, shown = single_item(bodies.response_schema(operation), schemas)
        response = place if schemas.members(shown).keys() & members.keys() else None
        role = _ROLES[operation.method]
        found.append(ResourceOperation(role, operation, body_steps, response))
    if "DELETE" in methods:
        found.append(ResourceOperation("delete", methods["DELETE"]))
    reasons = tuple(evidence.reasons)
    return ResourceSingleton(
        read.path, schema, tuple(found), confidence=evidence.confidence, reasons=reasons
    )


INFERRED: Final = StateModel()
"""An empty state model, with which everything is inferred."""


def find_resources(document: Document, stated: StateModel = INFERRED) -> ResourceModel:
    """Finds the collections and single resources of a document.

    Args:
        document: A document of any service.
        stated: The content of a state-model file, which corrects what is inferred.

    Raises:
        StartupError: A part of the document is not valid OpenAPI, or the state model names paths or
            members that the document does not have.
    """
    schemas = schemas_of(document)
    declared = operations(document)
    drafts = [_Draft(place, schemas).collection() for place in bodies.places(declared).values()]
    corrected = with_collections([it for it in drafts if it], stated, declared, schemas)
    collections = _related(with_scoped(corrected, declared, schemas), stated, schemas)
    paths = _paths_by_key([it for it in collections if it.is_certain])
    taken = {operation.key for it in collections for operation in it.operations}
    singletons = [
        replace(it, parents=_parents_of(it.path, paths))
        for it in with_singletons(find_singletons(declared, taken, schemas), stated.singletons)
    ]
    return ResourceModel(
        tuple(it for it in collections if it.is_certain),
        tuple(it for it in singletons if it.is_certain),
        tuple(it for it in collections if not it.is_certain)
        + tuple(it for it in singletons if not it.is_certain),
    )


def infer_resources(document: Document, state_model: Path | None = None) -> ResourceModel:
    """Finds the resources of a document, corrected by a state-model file if there is one.

    Raises:
        StartupError: The document or the file is invalid; the text names the file.
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
    paths, targets = _paths_by_key(certain), referring_names(certain)
    related = []
    for draft in drafts:
        members = schemas.members(draft.schema)
        entry = stated.collections.get(draft.path, CollectionEntry())
        references = entry.references
        if references is None:
            references = references_of(members, draft.identifier, targets, schemas)
        unique = unique_members(draft, members, schemas) if entry.unique is None else entry.unique
        parents = _parents_of(draft.path, paths)
        related.append(replace(draft, parents=parents, references=references, unique=unique))
    return related


def _parents_of(path: str, collections: Mapping[str, str]) -> tuple[ResourceParent, ...]:
    """Returns the parameters of a collection's path, outermost first.

    Args:
        path: Path template of the collection.
        collections: Keys of collections, each with its path.
    """
    parents = []
    for match in PATH_PARAMETER.finditer(path):
        key = bodies.item_collection(path[: match.end()])
        parents.append(ResourceParent(match[1], collections.get(key) if key else None))
    return tuple(parents)


def _paths_by_key(collections: Sequence[ResourceCollection]) -> dict[str, str]:
    """Returns the paths of collections by the keys of their items' paths.

    Collections whose items have a path without their parents are left out: such an item's identifier
    alone is the parent of everything below it.
    """
    nested = [it for it in collections if it.item_path is None or _is_below(it)]
    return {
        (it.item_path and bodies.item_collection(it.item_path))
        or bodies.collection_key(it.path): it.path
        for it in nested
    }


def _is_below(collection: ResourceCollection) -> bool:
    """Tells whether the path of an item has more parameters than that of its collection."""
    own = len(PATH_PARAMETER.findall(collection.path))
    return len(PATH_PARAMETER.findall(collection.item_path or "")) > own
