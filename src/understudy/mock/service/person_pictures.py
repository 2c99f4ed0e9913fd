"""Shows people's pictures to the console, without a trace in the journal (``openapi/admin.yaml``)."""

from understudy.errors import NotFound, nearest
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers
from understudy.mock.service.linked_pictures import get_avatar
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import PEOPLE


async def get_person_avatar(call: Call, slug: str, *, size: int = 80) -> HandlerResponse:
    """Responds to ``GET /people/{slug}/avatar``, with a placeholder where there is no picture.

    Raises:
        NotFound: There is no such person.
    """
    person = call.world.get(PEOPLE, slug)
    if person is None:
        hint = nearest(slug, list(call.world.keys(PEOPLE))) or "."
        msg = f"There is no person {slug!r} in this world{hint}"
        raise NotFound(msg)
    return await get_avatar(call, email_hash(person.emails[0].email), s=str(size))


HANDLERS: Handlers = {("GET", "/people/{slug}/avatar"): get_person_avatar}
