"""The ASGI middleware stack, outermost first."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp

from understudy.mock.engine._connexion import ROUTING, Middleware, routed
from understudy.mock.engine.admin_guard import guarding
from understudy.mock.engine.api import Api
from understudy.mock.engine.body_guard import BodyGuard
from understudy.mock.engine.choices import Choose, choosing
from understudy.mock.engine.cors import Cors
from understudy.mock.engine.dispatcher import Dispatcher, ResponseValidation, Route
from understudy.mock.engine.endpoint import Endpoint, endpoints
from understudy.mock.engine.errors import Errors
from understudy.mock.engine.fault_injection import FaultInjection
from understudy.mock.engine.journaling import (
    JournalMiddleware,
    RequestListener,
    expect_bounded_head,
    expect_world,
)
from understudy.mock.engine.page_guard import guarding_paths, page_test
from understudy.mock.engine.rate_limit import enforce_quota
from understudy.mock.engine.request_context import HERE, Addresses
from understudy.mock.engine.request_validation import validate
from understudy.mock.engine.security import authorize
from understudy.mock.engine.steps import Steps
from understudy.mock.engine.world_selection import Worlds
from understudy.openapi.paths import Paths


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """The configuration of one address: the documents that it serves, and how.

    Attributes:
        apis: The documents in force; unknown paths get the first one's error shape.
        worlds: The worlds that requests may select.
        elsewhere: The application behind the paths that no document has.
        choose: Reads the options that a single request chooses.
        response_validation: What happens to a response of the mock that breaks the document.
        records: Called with every finished request, before it gets its number in the journal.
        log: Called with every finished request, once it is in the journal; None for no log.
        closed: Paths that get no cross-origin headers, and all below them.
        addresses: The addresses of the two servers; empty for the one that is served.
        admin_hosts: Host names that callers of the admin API may use, beside loopback ones.
        admin_token: Lets callers from other machines use the admin API.
        guarded: Prefixes of paths that are guarded like pages against foreign host names.
        page_hosts: Host names that pages may be reached under, beside loopback ones.
    """

    apis: Sequence[Api]
    worlds: Worlds
    elsewhere: ASGIApp
    choose: Choose
    response_validation: ResponseValidation = "refuse"
    records: Sequence[RequestListener] = ()
    log: RequestListener | None = None
    closed: Sequence[str] = ()
    addresses: Addresses = HERE
    admin_hosts: frozenset[str] = frozenset()
    admin_token: str | None = None
    guarded: Sequence[str] = ()
    page_hosts: frozenset[str] = frozenset()


def stack(site: SiteConfig) -> ASGIApp:
    """Builds the middleware stack of one address around its dispatcher.

    Raises:
        StartupError: A document or its handlers are not as they must be.
    """
    served: dict[str, list[Endpoint]] = {}
    for api in site.apis:
        served.setdefault(api.base_path, []).extend(endpoints(api))
    operations = {base_path: [e.operation for e in group] for base_path, group in served.items()}
    paths = Paths(operations, site.apis[0].base_path)
    is_page = page_test(paths, site.apis)
    layers: list[Middleware] = [
        lambda app: JournalMiddleware(
            app, site.worlds, paths, (site.records, site.log), site.addresses
        ),
        lambda app: Cors(app, site.closed, is_page),
        lambda app: Errors(app, paths, site.apis),
        lambda app: Steps(
            app,
            expect_bounded_head,
            guarding(site.admin_token, site.admin_hosts),
            guarding_paths(site.guarded, site.page_hosts),
            expect_world,
            choosing(site.choose),
        ),
        BodyGuard,
        ROUTING,
        lambda app: Route(app, served),
        lambda app: Steps(app, authorize),
        FaultInjection,
        lambda app: Steps(app, enforce_quota, validate),
    ]
    return routed(operations, layers, Dispatcher(site.elsewhere, site.response_validation))
