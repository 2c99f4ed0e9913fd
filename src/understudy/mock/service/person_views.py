"""Shows what clients see of a person, without a trace in the journal (``openapi/admin.yaml``)."""

from typing import Any

from msgspec.structs import replace

from understudy.errors import NotFound, Problem, nearest
from understudy.mock.server.call import Call, HandlerResponse, Principal, SharedBody
from understudy.mock.server.handlers import Handlers
from understudy.mock.service.profiles import get_profile
from understudy.mock.service.resource_operations import error_body
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.vocabulary import vocabulary_of


def get_person_views(call: Call, slug: str) -> HandlerResponse:
    """Responds to ``GET /people/{slug}/views``: the lookup's responses, which no limit counts.

    Raises:
        NotFound: There is no such person.
    """
    world = call.world
    if world.get(PEOPLE, slug) is None:
        hint = nearest(slug, list(world.keys(PEOPLE))) or "."
        msg = f"There is no person {slug!r} in this world{hint}"
        raise NotFound(msg)
    scopes = frozenset(vocabulary_of(world).scope_names)
    public = _looked_up(call, slug, None)
    own = _looked_up(call, slug, Principal(slug, "oauth", scopes, ""))
    names = dict.fromkeys([*own["body"], *public["body"]])
    differing = [name for name in names if _differs(name, public["body"], own["body"])]
    return HandlerResponse({"public": public, "token": own, "differing": differing})


def _looked_up(call: Call, slug: str, principal: Principal | None) -> dict[str, Any]:
    """Returns the status and the body of a lookup."""
    try:
        response = get_profile(replace(call, principal=principal, notes=[]), slug)
    except Problem as problem:
        return {"status": problem.status, "body": error_body(problem)}
    body = response.body.value if isinstance(response.body, SharedBody) else response.body
    return {"status": response.status, "body": body}


def _differs(name: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (name in one) != (name in other) or one.get(name) != other.get(name)


HANDLERS: Handlers = {("GET", "/people/{slug}/views"): get_person_views}
