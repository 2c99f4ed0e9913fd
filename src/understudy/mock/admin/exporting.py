"""A world as fixtures: taken out and put in (``openapi/admin.yaml``)."""

from understudy.mock.engine.call import Call, HandlerResponse
from understudy.mock.engine.handlers import Handlers
from understudy.mock.fixtures.archive import pack_world, unpack_fixtures


def export_world(call: Call) -> HandlerResponse:
    """Answers ``GET /export``: a zip file of what ``serve --fixtures`` takes."""
    name = f'attachment; filename="{call.world.name}.zip"'
    headers = (("content-disposition", name),)
    return HandlerResponse(pack_world(call.world), 200, "application/zip", headers)


def import_world(call: Call, *, body: bytes) -> HandlerResponse:
    """Answers ``POST /import``: the world becomes what the fixtures say, or stays as it is.

    Raises:
        BadRequest: The body is no such zip file, or a fixture in it cannot be used.
    """
    baseline = unpack_fixtures(body)
    kept = call.world.snapshot()
    call.world.become(kept._replace(baseline=baseline, overlay={}))
    return HandlerResponse(status=204)


HANDLERS: Handlers = {("GET", "/export"): export_world, ("POST", "/import"): import_world}
