"""Writes requests as curl commands and as calls of httpx, with variables for secrets.

``generate`` writes its own scripts, with one long option a line, but writes bodies and empty
headers by the functions here.
"""

import base64
import re
import shlex
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from understudy.exchange.masking import BODY_SHOWN, QUIET, masked, text_of
from understudy.exchange.messages import Request

_MEANT: Final = {("accept-encoding", "gzip"), ("accept-encoding", "identity")}
"""Values that a command must send although ``QUIET`` has their header: findings depend on them."""

PACKED_MOST: Final = 4000
"""Characters of the longest packed body that a script contains."""

GZIP: Final = 31
"""``wbits`` by which zlib writes gzip; without time and name, so that equal bodies look equal."""

GLOB: Final = "[]{}"
"""Characters by which curl expands one URL to several."""


def plain_command(
    method: str, url: str, fields: Sequence[str] = (), options: Sequence[str] = ()
) -> str:
    """Returns a curl command without variables, for a person to copy.

    Args:
        method: The method.
        url: The URL.
        fields: Header fields, as ``name: value``.
        options: Further arguments, such as a body.
    """
    words = ["curl"] if method == "GET" else ["curl", "-X", method]
    return shlex.join([*words, url, *(word for text in fields for word in ("-H", text)), *options])


def field_text(name: str, value: str) -> str:
    """Returns an argument of ``-H``; a field without a value must end with a semicolon there."""
    return f"{name}: {value}" if value.strip() else f"{name};"


def curl(request: Request, secrets: Mapping[str, str], times: int = 1) -> str:
    """Returns a curl command that sends a request; secrets are shell variables.

    Args:
        request: The request.
        secrets: Each secret, and the variable that replaces it.
        times: Number of times to send it on one connection; curl expands a range in the URL's
            fragment, which is not sent.
    """

    def quoted(text: str) -> str:
        return in_double_quotes(masked(text, secrets), secrets)

    parts = ["curl -I" if request.method == "HEAD" else "curl -i"]
    if "/." in request.url:
        parts.append("--path-as-is")  # else curl removes dot segments
    if request.method != "HEAD" and (request.method != "GET" or request.body):
        parts.append(f"-X {request.method}")
    parts.append(quoted(_address(request.url, times)))
    for name, header in sent_fields(request):
        text = field_text(name, masked(header, secrets))
        parts.append(f"-H {quoted(text)}")
    body = plain_body(request.body)
    if body and not request.header("content-type"):
        parts.append('-H "content-type:"')  # else curl declares a form
    if body is None:
        reading = _printed_body(request.body)
        parts.append("--data-binary @-" if reading else "--data-binary @body.bin")
        parts.insert(0, reading)
    elif body:
        parts.append(f"--data-raw {quoted(body)}")
    return " ".join(filter(None, parts))


def _address(url: str, times: int) -> str:
    """Returns a URL for curl, which expands it only if the request is sent several times."""
    literal = re.sub(f"[{re.escape(GLOB)}]", r"\\\g<0>", url)
    return f"{literal}#[1-{times}]" if times > 1 else literal


def _printed_body(body: bytes) -> str:
    """Returns a command that prints a body into a pipe; empty if the body is too long."""
    if len(body) <= BODY_SHOWN:
        return f"echo {base64.b64encode(body).decode()} | base64 -d |"
    packed = packed_body(body)
    return packed and f"echo {packed} | base64 -d | gzip -d | gzip -d |"


def sent_fields(request: Request) -> Iterator[tuple[str, str]]:
    """Yields the headers that a script must send itself."""
    for name, header in request.headers:
        if name not in QUIET or (name, header) in _MEANT or (name == "accept" and header != "*/*"):
            yield name, header


def plain_body(body: bytes) -> str | None:
    """Returns a body as text for a script; None if it is too long, or not text."""
    text = text_of(body)
    return None if text is None or len(body) > BODY_SHOWN or "\0" in text else text


def packed_body(body: bytes) -> str:
    """Returns a body compressed twice by gzip, in base64; empty if it is still too long.

    Ten megabytes of one byte take ten kilobytes if compressed once, and a hundred bytes if twice.
    """
    once = zlib.compress(body, 9, wbits=GZIP)
    packed = base64.b64encode(zlib.compress(once, 9, wbits=GZIP)).decode()
    return packed if len(packed) <= PACKED_MOST else ""


def in_double_quotes(text: str, secrets: Mapping[str, str]) -> str:
    """Returns a word in double quotes, in which the shell expands only variables of secrets."""
    names = "|".join(map(re.escape, secrets.values())) or "(?!)"  # which matches nothing
    escaped = re.sub(r'["\\`]', r"\\\g<0>", text)
    escaped = re.sub(rf"\$(?!(?:{names})\b)", r"\$", escaped)
    # an interactive shell replaces !word from its history
    return '"' + escaped.replace("!", "\"'!'\"") + '"'


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
