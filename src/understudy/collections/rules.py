"""The rules of inferred state: what a reader of a document expects of its collections.

They are not in ``rules.yaml``, as the interface does not state them; a document only suggests them.
So a broken rule is a note, unless it follows from HTTP or from names in the document (``CERTAIN``),
or the target file lists it as stated by the deployment (``accept_as_stated``).
"""

from collections.abc import Mapping, Sequence, Set
from http import HTTPStatus
from typing import Final

from understudy.collections.model import ResourceCollection, ResourceModel, ResourceOperation, Role
from understudy.interface.rules import Rule

CREATE_READABLE: Final = "inferred-create-readable"
CREATE_RESPONSE: Final = "inferred-create-response"
CREATE_LISTED: Final = "inferred-create-listed"
CREATE_IDENTIFIER: Final = "inferred-create-identifier"
CREATE_DEFAULTED: Final = "inferred-create-defaulted"
CREATE_GUARDED: Final = "inferred-create-guarded"
CREATE_UNIQUE: Final = "inferred-create-unique"
BOUND_ACCEPTED: Final = "inferred-bound-accepted"
LIST_ONCE: Final = "inferred-list-once"
LIST_COUNTED: Final = "inferred-list-counted"
LIST_LIMITED: Final = "inferred-list-limited"
LIST_FILTERED: Final = "inferred-list-filtered"
LIST_SORTED: Final = "inferred-list-sorted"
LIST_DEFAULTED: Final = "inferred-list-defaulted"
READ_REPEATABLE: Final = "inferred-read-repeatable"
REPLACE_KEPT: Final = "inferred-replace-kept"
UPDATE_MERGED: Final = "inferred-update-merged"
CHANGE_ISOLATED: Final = "inferred-change-isolated"
DELETE_GONE: Final = "inferred-delete-gone"
DELETE_ONCE: Final = "inferred-delete-once"
MATCH_OBEYED: Final = "inferred-match-obeyed"
PARENT_OWN: Final = "inferred-parent-own"
PARENT_GONE: Final = "inferred-parent-gone"
OWNER_ONLY: Final = "inferred-owner-only"
SCOPE_NEEDED: Final = "inferred-scope-needed"
SINGLETON_KEPT: Final = "inferred-singleton-kept"
TEXT_LITERAL: Final = "inferred-text-literal"

_STATEMENTS: Final[Mapping[str, str]] = {
    CREATE_READABLE: "An item that was created is read at its address, with the members that were sent.",
    CREATE_RESPONSE: "The item in the response to its creation or change is the item that is then read.",
    CREATE_LISTED: "An item that was created is listed in its collection.",
    CREATE_IDENTIFIER: "Two items of a collection have different identifiers.",
    CREATE_DEFAULTED: "A member that its creation leaves out has the default of the document.",
    CREATE_GUARDED: "A member that only the service sets, or no closed schema names, is not taken from a request.",
    CREATE_UNIQUE: "A second item with a value that the document calls a conflict is refused.",
    BOUND_ACCEPTED: "A value at a bound of the document is accepted where one inside the bound is.",
    LIST_ONCE: "The pages of a list name each item once.",
    LIST_COUNTED: "The total that a list names is the number of its items, and likewise that of its pages.",
    LIST_LIMITED: "A page of a list has at most as many items as are asked for.",
    LIST_FILTERED: "A list that is filtered by a member has only items with that value.",
    LIST_SORTED: "A list is in the order that is asked for.",
    LIST_DEFAULTED: "A list without a parameter is the list with the parameter's default.",
    READ_REPEATABLE: "An item that nobody changed is read again as it was.",
    REPLACE_KEPT: "After PUT an item has the members that were sent.",
    UPDATE_MERGED: "PATCH changes the members that were sent, and keeps the others.",
    CHANGE_ISOLATED: "Changing or deleting an item changes no other item.",
    DELETE_GONE: "A deleted item is neither read nor listed.",
    DELETE_ONCE: "Deleting an item again does not succeed, where the document declares a 404 or 410.",
    MATCH_OBEYED: "A change whose If-Match names an outdated ETag is refused with 412, and changes nothing.",
    PARENT_OWN: "An item is read, listed, changed and deleted below its own parent alone.",
    PARENT_GONE: "Below a parent that was deleted no item is read, listed or created.",
    OWNER_ONLY: "An item of the caller's own is not listed, read, changed or deleted by another account.",
    SCOPE_NEEDED: "A token without the scopes that an operation needs does not open it.",
    TEXT_LITERAL: "A text that looks like a part of a query is searched for as it stands.",
    SINGLETON_KEPT: "A resource that exists once is read as it was last changed.",
}

CERTAIN: Final = _STATEMENTS.keys() - {CREATE_RESPONSE, READ_REPEATABLE, DELETE_ONCE}
"""Rules that follow from HTTP methods or names in the document; if one is broken, it is a finding."""

INFERRED: Final[Mapping[str, Rule]] = {
    name: Rule(
        id=name,
        statement=statement,
        section="Inferred state",
        status="implied" if name in CERTAIN else "inferred",
        held_by="document",
    )
    for name, statement in _STATEMENTS.items()
}
"""Id to rule, in the order of reports."""

_NEEDED: Final[Mapping[str, Sequence[Set[Role]]]] = {
    CREATE_READABLE: [{"read"}],
    CREATE_RESPONSE: [{"read"}],
    CREATE_LISTED: [{"list"}],
    CREATE_IDENTIFIER: [{"create"}],
    CREATE_DEFAULTED: [{"create"}],
    CREATE_GUARDED: [{"create"}],
    CREATE_UNIQUE: [{"create"}],
    BOUND_ACCEPTED: [{"create"}],
    LIST_ONCE: [{"list"}],
    LIST_COUNTED: [{"list"}],
    LIST_LIMITED: [{"list"}],
    LIST_FILTERED: [{"list"}],
    LIST_SORTED: [{"list"}],
    LIST_DEFAULTED: [{"list"}],
    READ_REPEATABLE: [{"read"}],
    REPLACE_KEPT: [{"replace"}, {"read"}],
    UPDATE_MERGED: [{"update"}, {"read"}],
    CHANGE_ISOLATED: [{"replace", "update", "delete"}, {"read"}],
    DELETE_GONE: [{"delete"}, {"read", "list"}],
    DELETE_ONCE: [{"delete"}],
    MATCH_OBEYED: [{"replace", "update", "delete"}, {"read"}],
    PARENT_OWN: [{"read", "list"}],
    PARENT_GONE: [{"read", "list"}],
    OWNER_ONLY: [{"read"}],
}
"""Rule to the roles that a collection needs, besides one that creates items: one of each set."""


def is_conditional(role: ResourceOperation) -> bool:
    """Tells whether a document says that a change with an outdated ``If-Match`` is refused."""
    declared, names = role.operation, {it.name.lower() for it in role.operation.parameters}
    is_declared = (
        str(HTTPStatus.PRECONDITION_FAILED.value) in declared.responses or "if-match" in names
    )
    is_change = role.role in {"replace", "update", "delete"}
    return (
        is_change and is_declared and declared.response(HTTPStatus.PRECONDITION_FAILED) is not None
    )


def lacking(rule: str, model: ResourceModel) -> str | None:
    """Returns why no resource of a model can be checked by a rule; None if one can."""
    if rule == SINGLETON_KEPT:
        return None if model.singletons else "the document has no resource that exists once"
    reasons = [_lacking_roles(rule, collection) for collection in model.collections]
    if not reasons:
        return "the document has no collection whose items are created and read"
    if None not in reasons:
        return reasons[0]
    roles = [it for each in model.collections for it in each.operations]
    deletions = (set(it.operation.responses) for it in roles if it.role == "delete")
    above = (it.collection for each in model.collections for it in each.parents[-1:])
    is_below = any(above)
    is_listed = any(it.role == "list" and any(it.scope.values()) for it in roles)
    can_be, reason = {
        DELETE_ONCE: (
            any({"404", "410"} & it for it in deletions),
            "no DELETE of the document declares a 404 or 410",
        ),
        MATCH_OBEYED: (any(map(is_conditional, roles)), "no operation declares a 412"),
        PARENT_OWN: (is_below or is_listed, "no list is of the items below another"),
        PARENT_GONE: (is_below, "no collection is below the items of another"),
    }.get(rule, (True, ""))
    return None if can_be else reason


def _lacking_roles(rule: str, collection: ResourceCollection) -> str | None:
    """Returns a sentence on the roles that a collection lacks for a rule; None if it lacks none."""
    roles = collection.roles
    for needed in ({"create", "replace"}, *_NEEDED.get(rule, ())):
        if not roles & needed:
            return f"{collection.path} has no operation in the role {' or '.join(sorted(needed))}"
    return None
