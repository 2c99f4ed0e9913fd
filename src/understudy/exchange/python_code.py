"""Writes requests as calls of httpx, with secrets from the environment."""

from collections.abc import Mapping

from understudy.exchange.curl import packed_body, plain_body, sent_fields
from understudy.exchange.masking import BODY_SHOWN, masked
from understudy.exchange.messages import Request


def call_arguments(request: Request, secrets: Mapping[str, str]) -> str:
    """Returns the arguments of ``httpx.request`` that send a request.

    Args:
        request: The request.
        secrets: Each secret, and the variable that replaces it.
    """
    arguments = [repr(request.method), _expanded(masked(request.url, secrets))]
    headers = {name: masked(header, secrets) for name, header in sent_fields(request)}
    if headers:
        pairs = ", ".join(f"{name!r}: {_expanded(text)}" for name, text in headers.items())
        arguments.append(f"headers={{{pairs}}}")
    if request.body:
        arguments.append(f"content={_content(request.body, secrets)}")
    return ", ".join(arguments)


def _content(body: bytes, secrets: Mapping[str, str]) -> str:
    text = plain_body(body)
    if text is not None:
        return _expanded(masked(text, secrets))
    if len(body) <= BODY_SHOWN:
        return repr(body)
    packed = packed_body(body)
    if not packed:
        return "open('body.bin', 'rb').read()"
    return f'gzip.decompress(gzip.decompress(base64.b64decode("{packed}")))'


def _expanded(text: str) -> str:
    return f"os.path.expandvars({text!r})" if "$" in text else repr(text)
