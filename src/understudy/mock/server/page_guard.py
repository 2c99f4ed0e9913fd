"""Tells pages from API paths, and refuses pages under host names that an attacker could choose.

A page of the attacker whose host name suddenly leads to 127.0.0.1 (DNS rebinding) is of the same
origin as the mock's pages then, and could read tokens and secrets from them. A browser on this
machine therefore gets them only under a loopback name, or under one that the mock was started with.
"""

from collections.abc import Callable, Sequence

from understudy.errors import Forbidden
from understudy.mock.server.api import Api
from understudy.mock.server.hosts import host_name, is_local
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.steps import Step
from understudy.mock.server.world_names import PREFIX
from understudy.openapi.paths import Paths

IsPage = Callable[[str], bool]
"""Tells whether a path, within its world, is a page and not an API's."""


def page_test(paths: Paths, apis: Sequence[Api]) -> IsPage:
    """Returns the test for pages: what no document declares, and what a document calls a page."""
    declared_pages = {api.base_path + path for api in apis for _, path in api.pages}
    prefixes = (PREFIX, *(f"{api.base_path}/" for api in apis if api.base_path))

    def is_page(path: str) -> bool:
        if path in declared_pages:
            return True
        return not path.startswith(prefixes) and paths.template(paths.based(path)) is None

    return is_page


def guarding_paths(prefixes: Sequence[str], hosts: frozenset[str]) -> Step | None:
    """Returns the step that guards paths of documents as pages are guarded; None: there are none.

    Args:
        prefixes: What the guarded paths start with.
        hosts: Host names that are the mock's, beside loopback ones.
    """
    guarded = tuple(prefixes)

    def guard_paths(context: RequestContext) -> None:
        if context.path.startswith(guarded):
            expect_own_host(context, hosts)

    return guard_paths if guarded else None


def expect_own_host(context: RequestContext, hosts: frozenset[str]) -> None:
    """Refuses a local browser that calls the mock by a name that is not the mock's.

    Raises:
        Forbidden: The Host header is neither a loopback name nor one of ``hosts``.
    """
    if not is_local(context.client):
        return
    host = context.headers.get(b"host", b"").decode("latin-1")
    name = host_name(host)
    if is_local(name) or name in hosts:
        return
    msg = (
        f"The Host {host!r} is not a loopback host name; call 127.0.0.1 or localhost, "
        f"or start the mock with --admin-host {name or 'NAME'}."
    )
    raise Forbidden(msg, code="host_not_allowed")
