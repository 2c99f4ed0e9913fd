"""Validates responses by openapi-core, as a second opinion.

openapi-core by itself makes the validators of a schema, looks for the path of a request and follows
every reference anew for every response, which is two thirds of its time, so all three are cached.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import orjson
from jsonschema_path import SchemaPath
from openapi_core import Config, OpenAPI
from openapi_core.casting.schemas.factories import SchemaCastersFactory
from openapi_core.exceptions import OpenAPIError
from openapi_core.templating.paths.datatypes import PathOperationServer
from openapi_core.templating.paths.finders import APICallPathFinder
from openapi_core.testing import MockRequest, MockResponse
from openapi_core.validation.schemas.factories import SchemaValidatorsFactory
from openapi_core.validation.schemas.validators import SchemaValidator

from understudy.exchange.messages import Exchange
from understudy.openapi.media_types import JSON, is_json

URLS = 1024
"""URLs whose operations are cached: more than a run requests repeatedly."""

PLACES = 4096
"""Resolved references that are cached; a run follows some hundreds, thousands of times each."""


class OpenApiCoreValidator:
    """Validates responses by openapi-core.

    Args:
        raw: The document, of any version that openapi-core knows.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        spec = SchemaPath.from_dict(dict(raw), resolved_cache_maxsize=PLACES)
        # the loader has repaired the document; a defect that is left must not end the run
        openapi = OpenAPI(spec, Config(spec_validator_cls=None))  # type: ignore[arg-type]  # as its documentation has it
        validator_class: Any = openapi.response_validator_cls
        casters = validator_class.schema_casters_factory
        self._validator = validator_class(
            openapi.spec,
            schema_casters_factory=SchemaCastersFactory(
                _Validators(casters.schema_validators_factory), casters.types_caster
            ),
            extra_media_type_deserializers=_JsonReaders(),
            schema_validators_factory=_Validators(validator_class.schema_validators_factory),
            path_finder_cls=_PathFinder,
        )

    def error(self, exchange: Exchange) -> str:
        """Returns the first error of a response; empty where the document allows it."""
        try:
            self._validate(exchange)
        except OpenAPIError as error:
            causes = getattr(error.__cause__, "schema_errors", None) or [error.__cause__ or error]
            return f"{type(error).__name__}: {_text(next(iter(causes)))}"[:300]
        except Exception as error:  # a defect of openapi-core is reported as a disagreement
            return f"{type(error).__name__}: {_text(error)}"[:300]
        return ""

    def _validate(self, exchange: Exchange) -> None:
        request, response = exchange.request, exchange.response
        parts = urlsplit(request.url)
        self._validator.validate(
            MockRequest(
                f"{parts.scheme}://{parts.netloc}",
                request.method,
                parts.path,
                args=request.pairs,  # type: ignore[arg-type]  # pairs of a multidict, too
                headers=list(request.headers),  # type: ignore[arg-type]  # as above
                data=request.body,
                content_type=request.header("content-type"),
            ),
            MockResponse(
                response.body,
                response.status,
                list(response.headers),  # type: ignore[arg-type]  # as above
                response.header("content-type"),
            ),
        )


class _JsonReaders(dict[str, Any]):
    """Reads every media type that is JSON, such as problem+json, which openapi-core takes for text."""

    def __contains__(self, media_type: object) -> bool:
        return media_type != JSON and is_json(str(media_type))

    def __missing__(self, _media_type: str) -> Any:
        return lambda content, **_: orjson.loads(content)


class _Validators(SchemaValidatorsFactory):
    """Caches the validators of schemas, by the schema's place in the document.

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
    """Caches the operations of URLs."""

    def __init__(self, spec: SchemaPath, base_url: str | None = None) -> None:
        super().__init__(spec, base_url)
        self._kept = lru_cache(URLS)(super().find)

    def find(self, method: str, name: str) -> PathOperationServer:
        """Returns the operation of a method and a URL.

        Raises:
            PathError: The document has no such operation.
        """
        return self._kept(method, name)


def _text(error: object) -> str:
    """Returns an error's text; openapi-core's own texts fail on bytes that are not UTF-8."""
    try:
        return str(error)
    except UnicodeDecodeError:
        return "the body is not UTF-8"
