"""Puts an answer on the wire as ASGI messages."""

import orjson
from starlette.types import Send

from understudy.engine.call import Answer
from understudy.errors import Headers

NO_CONTENT = 204
"""Goes without a body, and without the length of one (RFC 9110, 8.6)."""


async def send_answer(send: Send, answer: Answer, extra: Headers = ()) -> None:
    """Sends an answer.

    Args:
        send: ASGI's.
        answer: A body that JSON can say is sent as JSON, bytes as they are, None as no content.
        extra: Headers beside the answer's own.
    """
    if answer.status == NO_CONTENT:
        answer = answer._replace(body=None)
    body = b"" if answer.body is None else answer.body
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = []
    if answer.status != NO_CONTENT:
        headers.append((b"content-length", str(len(content)).encode()))
    if answer.body is not None:
        headers.append((b"content-type", answer.media_type.encode()))
    headers += [(name.encode(), text.encode("latin-1")) for name, text in (*answer.headers, *extra)]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def mock_problem(status: int, title: str, detail: str) -> Answer:
    """Returns what production could never say, as problem+json (RFC 9457)."""
    body = {"title": title, "status": status, "detail": detail}
    return Answer(body, status, "application/problem+json")
