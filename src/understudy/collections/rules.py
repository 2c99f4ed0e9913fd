"""The rules of inferred state: what a reader of a document expects of its collections.

They are not in ``rules.yaml``, as the interface does not state them; a document only suggests them.
So a broken rule is a note, unless it follows from HTTP or from names in the document (``CERTAIN``),
or the target file lists it as stated by the deployment (``accept_as_stated``).
"""

from collections.abc import Mapping
from typing import Final

from understudy.collections.model import ResourceCollection, ResourceModel, ResourceOperation
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

_STATEMENTS: Final[Mapping[str, tuple[str, str]]] = {
    CREATE_READABLE: ("read", "An item that was created is read at its address, with the members that were sent."),
    CREATE_RESPONSE: ("read", "The item in the response to its creation or change is the item that is then read."),
    CREATE_LISTED: ("list", "An item that was created is listed in its collection."),
    CREATE_IDENTIFIER: ("create", "Two items of a collection have different identifiers."),
    CREATE_DEFAULTED: ("create", "A member that its creation leaves out has the default of the document."),
    CREATE_GUARDED: ("create", "A member that only the service sets, or no closed schema names, is not taken from a request."),
    CREATE_UNIQUE: ("create", "A second item with a value that the document calls a conflict is refused."),
    BOUND_ACCEPTED: ("create", "A value at a bound of the document is accepted where one inside the bound is."),
    LIST_ONCE: ("list", "The pages of a list name each item once."),
    LIST_COUNTED: ("list", "The total that a list names is the number of its items, and likewise that of its pages."),
    LIST_LIMITED: ("list", "A page of a list has at most as many items as are asked for."),
    LIST_FILTERED: ("list", "A list that is filtered by a member has only items with that value."),
    LIST_SORTED: ("list", "A list is in the order that is asked for."),
    LIST_DEFAULTED: ("list", "A list without a parameter is the list with the parameter's default."),
    READ_REPEATABLE: ("read", "An item that nobody changed is read again as it was."),
    REPLACE_KEPT: ("replace read", "After PUT an item has the members that were sent."),
    UPDATE_MERGED: ("update read", "PATCH changes the members that were sent, and keeps the others."),
    CHANGE_ISOLATED: ("replace|update|delete read", "Changing or deleting an item changes no other item."),
    DELETE_GONE: ("delete read|list", "A deleted item is neither read nor listed."),
    DELETE_ONCE: ("delete", "Deleting an item again does not succeed, where the document declares a 404 or 410."),
    MATCH_OBEYED: ("replace|update|delete read", "A change whose If-Match names an outdated ETag is refused with 412, and changes nothing."),
    PARENT_OWN: ("read|list", "An item is read, listed, changed and deleted below its own parent alone."),
    PARENT_GONE: ("read|list", "Below a parent that was deleted no item is read, listed or created."),
    OWNER_ONLY: ("read", "An item of the caller's own is not listed, read, changed or deleted by another account."),
    SCOPE_NEEDED: ("", "A token without the scopes that an operation needs does not open it."),
    TEXT_LITERAL: ("", "A text that looks like a part of a query is searched for as it stands."),
    SINGLETON_KEPT: ("", "A resource that exists once is read as it was last changed."),
}  # fmt: skip
"""Rule to its statement, after the roles that a collection needs: one of each word, and one that creates."""

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
    for name, (_, statement) in _STATEMENTS.items()
}
"""Id to rule, in the order of reports."""

FAILED: Final = 412
"""Status of a change whose ``If-Match`` names another state (RFC 9110, 13.1.1)."""


def is_conditional(role: ResourceOperation) -> bool:
    """Tells whether a document says that a change with an outdated ``If-Match`` is refused."""
    declared, names = role.operation, {it.name.lower() for it in role.operation.parameters}
    is_declared = str(FAILED) in declared.responses or "if-match" in names
    is_change = role.role in {"replace", "update", "delete"}
    return is_change and is_declared and declared.response(FAILED) is not None


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
    is_below, is_listed = (
        any(above),
        any(it.role == "list" and any(it.scope.values()) for it in roles),
    )
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
    roles = {it.role for it in collection.operations}
    for needed in ("create|replace", *_STATEMENTS[rule][0].split()):
        if not roles & {*needed.split("|")}:
            return f"{collection.path} has no operation in the role {needed.replace('|', ' or ')}"
    return None
