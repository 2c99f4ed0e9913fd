"""Reads the document that a deployment publishes (interface, Versioning), to judge it by."""

from pathlib import Path

from understudy.deployments.exchange import NO_JSON
from understudy.deployments.refusals import Refusal
from understudy.deployments.target import PUBLISHED
from understudy.errors import StartupError
from understudy.openapi.loader import Document, document_of
from understudy.openapi.yaml_files import parse_yaml
from understudy.verify.gateway import Gateway
from understudy.verify.probe_client import ProbeClient

_NAME = Path("the published document")


def read_published(gateway: Gateway) -> Document:
    """Requests the deployment's document.

    Raises:
        StartupError: It does not respond, or not with an OpenAPI 3.0 or 3.1 document.
    """
    url = f"{gateway.target.base_url.rstrip('/')}/openapi"
    try:
        response = ProbeClient(gateway, "document").get("/openapi").response
    except Refusal as refusal:
        msg = f'document = "{PUBLISHED}": {url} does not respond: {refusal}.'
        raise StartupError(msg) from refusal
    if not response.is_success or response.media_type == "text/html":
        media_type = response.media_type or "no content type"
        msg = (
            f'document = "{PUBLISHED}": {url} responds {response.status} with {media_type}, '
            "not with an OpenAPI document; name a file instead."
        )
        raise StartupError(msg)
    content = parse_yaml(response.body, _NAME) if response.json is NO_JSON else response.json
    return document_of(content, _NAME)
