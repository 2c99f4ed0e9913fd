"""Builds the mock from its parts; the only module that imports all of them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from understudy import plugins
from understudy.errors import StartupError, nearest
from understudy.interface.recognition import interface_operations
from understudy.interface.rules import bundled_choices
from understudy.interface.vocabulary import (
    OWN_WORDS,
    Vocabulary,
    in_words,
    load_vocabulary,
    user_info_document,
    with_declared_scopes,
)
from understudy.mock.admin.context import AdminContext, EdgeCaseSource
from understudy.mock.admin.faults import load_stubs
from understudy.mock.admin.handlers import handlers
from understudy.mock.apis import (
    adapted,
    admin_api,
    authorization_api,
    beside,
    definition_api,
    listing,
    metadata_api,
    resource_api,
    user_info_api,
    web_api,
    with_foreign_handlers,
)
from understudy.mock.authserver.client_advice import observe
from understudy.mock.console.console_files import with_console
from understudy.mock.fixtures import loading
from understudy.mock.pages.page_groups import PageGroup
from understudy.mock.pages.page_routing import pages
from understudy.mock.policies import mark_mechanisms
from understudy.mock.server.api import Api
from understudy.mock.server.call import InferredState, shape
from understudy.mock.server.callbacks import Callbacks, Permits
from understudy.mock.server.endpoint import Endpoint, endpoints
from understudy.mock.server.hosts import PRIVATE_PATHS, is_local
from understudy.mock.server.journal import Journal
from understudy.mock.server.journaling import RequestListener
from understudy.mock.server.request_context import HERE, Addresses
from understudy.mock.server.stack import ReloadableSite, Site, SiteConfig
from understudy.mock.server.worlds import Baseline, Identifiers, World
from understudy.mock.service.published import PATH
from understudy.mock.service.resource_operations import uncovered_names
from understudy.mock.settings import ResponseValidation, Settings
from understudy.mock.store.people import PEOPLE
from understudy.mock.store.persisting import fingerprint, persisted
from understudy.mock.store.vocabulary import vocabulary_of
from understudy.openapi.bundled import fixtures_directory, openapi_directory
from understudy.openapi.diagnostics import Diagnostic
from understudy.openapi.loader import Document, bundled_document, load

CLOSED = ("/oauth2/token", *PRIVATE_PATHS)
"""Paths without CORS headers: the token endpoint gets client secrets (interface, Code grant, 4)."""

GUARDED = ("/oauth2/",)
"""Prefixes of paths that are guarded against DNS rebinding, as pages are."""


class Mock:
    """The mock of one run: its state, and the applications of its two addresses.

    Args:
        settings: Settings of the run.
        record: Called with every finished request.
        addresses: Addresses of the two servers, for links between them.

    Attributes:
        edge_cases: Source of the edge cases that the admin API offers; None without one.
        listing: Listing of another service's document in force; None for the bundled service.
        resource: Application of the resource API's address, with its pictures and pages.
        authorization: Application of the authorization server's address, with its pages.

    Raises:
        StartupError: A document or a fixture is invalid.
    """

    def __init__(
        self,
        settings: Settings,
        record: RequestListener | None = None,
        addresses: Addresses = HERE,
    ) -> None:
        mark_mechanisms()
        self._settings = settings
        hosts = frozenset(host.lower() for host in settings.callbacks_to)
        self._callbacks = Callbacks(Permits(hosts, is_local(settings.host)), record)
        self._addresses = addresses
        self.fixtures = settings.fixtures or fixtures_directory()
        self.document = settings.document or openapi_directory() / "service.yaml"
        self._declared = self._loaded()
        self._state = self._inferred_state()
        self.vocabulary = settings.vocabulary
        self.world = World(
            "default",
            self._fixtures_in_words(),
            identifiers=Identifiers(settings.seed),
            choices=settings.choices,
            journal=Journal(settings.journal),
        )
        if (self.fixtures / "stubs").is_dir():  # stubs need a further, slow compilation
            served = endpoints(self._resource_api(vocabulary_of(self.world)))
            load_stubs(self.fixtures / "stubs", self.world, served)
        pinned = partial(fingerprint, settings, self.fixtures, self._declared.files)
        self.worlds, self._store = persisted(self.world, settings, pinned)
        self.edge_cases: EdgeCaseSource | None = None
        self.resource = ReloadableSite()
        self.authorization = ReloadableSite()
        key = settings.recording_key
        if key is not None and key.exists():  # a shared recording comes without its key
            entrance = plugins.find("entrances", "record")(settings.fixtures, key)
            self.resource.entrance = self.authorization.entrance = entrance
        self._build()

    async def close(self) -> None:
        """Closes the connection to a shared store; to be called before the event loop ends."""
        if self._store is not None:
            await self._store.close()

    @property
    def losses(self) -> tuple[Diagnostic, ...]:
        """Parts of the document in force that could not be read as written."""
        return self._declared.losses

    @property
    def uncovered(self) -> Sequence[str]:
        """Names that the document in force declares, and that neither vocabulary nor handlers know."""
        if self._settings.document is None or self.listing is not None:
            return ()
        return uncovered_names(self.endpoints, vocabulary_of(self.world))

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that a reload reads besides the fixtures, such as documents and overlays."""
        settings = self._settings
        optional = (self.vocabulary, settings.like, settings.state_model, settings.seed_data)
        others = (path for path in optional if path is not None)
        return (*self._declared.files, *self._settings.overlays, *others)

    def reload(self) -> None:
        """Reads documents and fixtures again; changes of the worlds are kept.

        Raises:
            StartupError: A document or a fixture is invalid; the old ones stay in force.
        """
        before, declared, state = self.world.baseline, self._declared, self._state
        self._declared = self._loaded()
        try:
            self._state = self._inferred_state()
            self.worlds.refit(before, self._fixtures_in_words())
            self._build()
        except Exception:
            self._declared, self._state = declared, state
            self.worlds.refit(self.world.baseline, before)
            raise

    def _inferred_state(self) -> InferredState | None:
        """Returns the state that a plugin infers from the document in force, if any."""
        infer = plugins.find("states", "collections")
        state: InferredState | None = infer(self._declared, self._settings)
        return state

    def _fixtures_in_words(self) -> Baseline:
        """Loads the fixtures, with the deployment's names for fields and scopes."""
        words = OWN_WORDS if self.vocabulary is None else load_vocabulary(self.vocabulary)
        if self._settings.document is not None and interface_operations(self._declared):
            words = with_declared_scopes(words, self._declared)
        fixtures = loading.load(self.fixtures, words)
        return fixtures if self._state is None else self._state.with_items(fixtures)

    def _loaded(self) -> Document:
        """Loads the document in force."""
        overlays = self._settings.overlays
        if self._settings.document is None and not overlays:
            return bundled_document("service.yaml")
        return load(self.document, overlays)

    def _approver(self) -> str | None:
        slug = self._settings.auto_approve
        if slug is not None and self.world.get(PEOPLE, slug) is None:
            hint = nearest(slug, list(self.world.keys(PEOPLE)))
            hint = hint or "; `understudy fixtures` lists people."
            msg = f"--auto-approve {slug}: there is no such person{hint}"
            raise StartupError(msg)
        return slug

    @property
    def _response_validation(self) -> ResponseValidation:
        own: ResponseValidation = "refuse" if self._settings.document is None else "warn"
        return self._settings.response_validation or own

    def _resource_api(self, words: Vocabulary) -> Api:
        document = self._declared
        if self._settings.document is None:
            document = in_words(document, words)
        resource = with_foreign_handlers(
            adapted(resource_api(document, words), document, self._settings), self._settings
        )
        if self._settings.document is not None:
            resource = replace(resource, fills_headers=True)
        if self._state is not None:
            resource = replace(resource, document_handlers=self._state.handlers)
        return resource

    def _site_config(
        self, apis: tuple[Api, ...], elsewhere: ASGIApp, *, has_sign_in: bool
    ) -> SiteConfig:
        return SiteConfig(
            apis=apis,
            worlds=self.worlds,
            elsewhere=with_console(elsewhere),
            choose=bundled_choices,
            response_validation=self._response_validation,
            records=[observe],
            log=self._callbacks.listener(apis[0].document),
            closed=CLOSED if has_sign_in else PRIVATE_PATHS,
            addresses=self._addresses_of_resource(),
            admin_token=self._settings.admin_token,
            admin_hosts=frozenset(self._settings.admin_hosts),
            guarded=GUARDED if has_sign_in else (),
            page_hosts=self._page_hosts(),
            shared=self._store,
        )

    def _admin_api(self, resource: Api, authserver: Api) -> Api:
        context = AdminContext(
            self.worlds,
            (resource, authserver),
            edge_cases=lambda: self.edge_cases,
            sites={"resource": self.resource, "authorization": self.authorization},
            facts=self._settings.facts,
        )
        return admin_api(bundled_document("admin.yaml"), handlers(context, self._callbacks))

    def _build(self) -> None:
        words = vocabulary_of(self.world)
        resource = self._resource_api(words)
        web = web_api(bundled_document("web.yaml"))
        declared = in_words(bundled_document("authorization.yaml"), words)
        authserver = authorization_api(declared, self._approver())
        sign_in = (authserver, metadata_api(authserver), *self._user_info(words))
        administration = self._admin_api(resource, authserver)
        self.base_path = resource.base_path
        self.endpoints = _served_endpoints(resource)
        self.title = str(resource.document.raw.get("info", {}).get("title", "an API"))
        self.listing = listing(self.title, self.endpoints, self._settings.tokens)
        is_single = self._settings.single_port
        # another service's document may use /oauth2 itself; with two addresses, ours is at the other
        has_sign_in = is_single or self.listing is None
        first_group: PageGroup = "operations" if self.listing else "people"
        page_groups: tuple[PageGroup, ...] = (first_group, "authorization")

        def elsewhere(groups: Sequence[PageGroup]) -> ASGIApp:
            return pages(resource.base_path, groups, self._page_hosts(), self.listing)

        apis = beside(resource, sign_in if is_single else (), web, administration)
        common = self._site_config(
            (*apis, definition_api(resource)),
            elsewhere(page_groups if is_single else page_groups[:1]),
            has_sign_in=has_sign_in,
        )
        self._tell_store((*common.apis, *sign_in))
        site = Site(common)
        if is_single:
            self.resource.site = self.authorization.site = site
            return
        authorization_site = Site(
            replace(
                common,
                apis=(*sign_in, web, administration),
                elsewhere=elsewhere(page_groups[1:]),
                closed=CLOSED,
                guarded=GUARDED,
                addresses=self._addresses_of_authorization(),
            )
        )
        self.resource.site, self.authorization.site = site, authorization_site

    def _tell_store(self, apis: Sequence[Api]) -> None:
        """Gives a shared store the operations that its journals may refer to."""
        if self._store is not None:
            self._store.serve(endpoint for api in apis for endpoint in endpoints(api))

    def _user_info(self, vocabulary: Vocabulary) -> Sequence[Api]:
        if not self._settings.user_info and vocabulary.user_info == OWN_WORDS.user_info:
            return ()
        document = user_info_document(bundled_document("user-info.yaml"), vocabulary)
        return (user_info_api(document, vocabulary),)

    def _page_hosts(self) -> frozenset[str]:
        """Returns the host names under which pages may be opened, besides loopback ones."""
        urls = (self._settings.public_url, self._settings.public_auth_url)
        public = (urlsplit(url).hostname or "" for url in urls if url)
        return frozenset((*self._settings.admin_hosts, *public))

    def _addresses_of_resource(self) -> Addresses:
        """Returns the addresses that the resource API's server gives to clients."""
        public = self._public(self._settings.public_url)
        authorization = self._public(self._settings.public_auth_url)
        if self._settings.single_port:
            return Addresses(public, authorization or public, public)
        return Addresses(public, authorization or self._addresses.authorization, public)

    def _addresses_of_authorization(self) -> Addresses:
        """Returns the addresses that the authorization server gives to clients."""
        resource = self._public(self._settings.public_url) or self._addresses.resource
        public = self._public(self._settings.public_auth_url)
        return Addresses(resource, public, public)

    def _public(self, url: str | None) -> str:
        """Returns a public URL without the base path of the document in force; empty for None."""
        return (url or "").rstrip("/").removesuffix(self.base_path).rstrip("/")


def _served_endpoints(resource: Api) -> list[Endpoint]:
    """Returns the endpoints of the document, without our handler that publishes the document."""
    published = shape("GET", PATH)
    return [
        endpoint
        for endpoint in endpoints(resource)
        if endpoint.binding.handler is None
        or shape(endpoint.operation.method, endpoint.operation.path) != published
    ]
