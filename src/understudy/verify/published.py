"""The document that a deployment publishes of itself (interface, Versioning), to judge it by."""

from pathlib import Path

from understudy.deployments.exchange import NO_JSON
from understudy.deployments.refusals import Refusal
from understudy.errors import StartupError
from understudy.openapi.loader import Document, document_of
from understudy.openapi.yaml_files import parse_yaml
from understudy.verify.gateway import Gateway
from understudy.verify.probe_client import ProbeClient

PUBLISHED = "published"
"""What stands for it where a file could be named."""

_NAME = Path("the published document")


def read_published(gateway: Gateway) -> Document:
    """Asks a deployment for its document.

    Raises:
        StartupError: It does not answer, or with no OpenAPI 3.0 or 3.1 document.
    """
    url = f"{gateway.target.base_url.rstrip('/')}/openapi"
    try:
        answer = ProbeClient(gateway, "document").get("/openapi").response
    except Refusal as refusal:
        msg = f"document = {PUBLISHED!r}: {url} does not answer: {refusal}."
        raise StartupError(msg) from refusal
    if not answer.is_success or answer.media_type == "text/html":
        kind = answer.media_type or "no content type"
        msg = (
            f"document = {PUBLISHED!r}: {url} answers {answer.status} with {kind}, "
            "and no OpenAPI document; name a file instead."
        )
        raise StartupError(msg)
    content = parse_yaml(answer.body, _NAME) if answer.json is NO_JSON else answer.json
    return document_of(content, _NAME)
