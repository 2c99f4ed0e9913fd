"""openapi-core as a validator of responses that keeps what it derives from the document.

By itself openapi-core makes the validators of a schema, looks for the path of a request and follows
every reference anew for every response, which is two thirds of its time.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from jsonschema_path import SchemaPath
from openapi_core import OpenAPI
from openapi_core.casting.schemas.factories import SchemaCastersFactory
from openapi_core.datatypes import RequestParameters
from openapi_core.templating.paths.datatypes import PathOperationServer
from openapi_core.templating.paths.finders import APICallPathFinder
from openapi_core.validation.schemas.factories import SchemaValidatorsFactory
from openapi_core.validation.schemas.validators import SchemaValidator
from werkzeug.datastructures import Headers, ImmutableMultiDict

from understudy.exchange.messages import Exchange, Request, Response

URLS = 1024
"""URLs whose operation is kept; those of one run that are requested again are among them."""

PLACES = 4096
"""Places of the document that are kept; a run asks for some hundreds, thousands of times each."""


class OpenApiCoreValidator:
    """Validates responses by openapi-core.

    Args:
        raw: The document, of any version that openapi-core knows.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        openapi = OpenAPI(SchemaPath.from_dict(dict(raw), resolved_cache_maxsize=PLACES))
        validator_class: Any = openapi.response_validator_cls
        casters = validator_class.schema_casters_factory
        self._validator = validator_class(
            openapi.spec,
            schema_casters_factory=SchemaCastersFactory(
                _Validators(casters.schema_validators_factory), casters.types_caster
            ),
            schema_validators_factory=_Validators(validator_class.schema_validators_factory),
            path_finder_cls=_PathFinder,
        )

    def validate(self, exchange: Exchange) -> None:
        """Validates a response.

        Raises:
            OpenAPIError: The document does not allow it.
        """
        request, response = _Request(exchange.request), _Response(exchange.response)
        self._validator.validate(request, response)


class _Validators(SchemaValidatorsFactory):
    """Keeps the validators of schemas, by the schema's place in the document.

    Args:
        factory: The factory of the document's version; its other arguments are the same in every call.
    """

    def __init__(self, factory: SchemaValidatorsFactory) -> None:
        super().__init__(factory.schema_validator_cls, factory.format_checker)
        self._factory = factory
        self._made: dict[SchemaPath, SchemaValidator] = {}

    def create(self, spec: SchemaPath, schema: SchemaPath, *args: Any, **options: Any) -> Any:
        """Returns the validator of the schema at a place of the document."""
        if schema not in self._made:
            self._made[schema] = self._factory.create(spec, schema, *args, **options)
        return self._made[schema]


class _PathFinder(APICallPathFinder):
    """Keeps the operations of URLs."""

    def __init__(self, spec: SchemaPath, base_url: str | None = None) -> None:
        super().__init__(spec, base_url)
        self._kept = lru_cache(URLS)(super().find)

    def find(self, method: str, name: str) -> PathOperationServer:
        """Returns the operation of a method and a URL.

        Raises:
            PathError: There is none.
        """
        return self._kept(method, name)


class _Request:
    """A request as openapi-core reads it."""

    def __init__(self, request: Request) -> None:
        parts = urlsplit(request.url)
        self.host_url = f"{parts.scheme}://{parts.netloc}"
        self.path = parts.path
        self.method = request.method.lower()
        self.body = request.body
        self.content_type = request.header("content-type")
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(request.pairs), header=Headers(list(request.headers))
        )


class _Response:
    """A response as openapi-core reads it."""

    def __init__(self, response: Response) -> None:
        self.data = response.body
        self.status_code = response.status
        self.content_type = response.header("content-type")
        self.headers = Headers(list(response.headers))
