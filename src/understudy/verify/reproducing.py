"""Makes the commands that reproduce a finding, for a shell or in Python.

Secrets are variables. A value that a response issues, such as a code or an avatar's id, is read from
the new response, since it differs each time.
"""

import base64
import re
from collections.abc import Mapping, Sequence

from understudy.deployments.exchange import Exchange, Request, masked
from understudy.verify.findings import BODY_SHOWN, QUIET, text_of
from understudy.verify.issued_values import IssuedValue, issued_values


def commands(steps: Sequence[Exchange], secrets: Mapping[str, str]) -> list[str]:
    """Returns a shell command for each step."""
    issued = issued_values(steps)
    named = {**secrets, **{one.value: one.variable for values in issued.values() for one in values}}
    return [
        _keeping(curl(step.request, named), issued.get(place, []))
        for place, step in enumerate(steps)
    ]


def _keeping(command: str, values: Sequence[IssuedValue]) -> str:
    """Returns a command that prints its response, and keeps issued values in variables."""
    if not values:
        return command
    if len(values) == 1:
        (one,) = values
        return f"{one.variable}=$({command} | tee /dev/stderr | {_reading(one)})"
    lines = [f"RESPONSE=$({command} | tee /dev/stderr)"]
    lines += [f'{one.variable}=$(printf "%s" "$RESPONSE" | {_reading(one)})' for one in values]
    return "; ".join(lines)


def _reading(one: IssuedValue) -> str:
    """Returns a command that reads a value from a response; the first, as pages repeat fields."""
    return f"sed -n 's/.*{one.shell_pattern}.*/\\1/p' | sed 1q"


def curl(request: Request, secrets: Mapping[str, str]) -> str:
    """Returns a curl command that sends a request; secrets are shell variables."""

    def quoted(text: str) -> str:
        return _quoted(masked(text, secrets), secrets)

    parts = ["curl -i"]
    if request.method != "GET":
        parts.append(f"-X {request.method}")
    parts.append(quoted(request.url))
    for name, header in request.headers:
        if name not in QUIET:
            parts.append(f"-H {quoted(f'{name}: {masked(header, secrets)}')}")
    body = text_of(request.body)
    if len(request.body) > BODY_SHOWN:
        parts.append("--data-binary @body.bin")
    elif body is None:
        parts.append("--data-binary @-")
        parts.insert(0, f"echo {base64.b64encode(request.body).decode()} | base64 -d |")
    elif body:
        parts.append(f"--data-raw {quoted(body)}")
    return " ".join(parts)


def snippet(steps: Sequence[Exchange], secrets: Mapping[str, str]) -> str:
    """Returns a Python program that sends the requests; secrets come from the environment."""
    issued = issued_values(steps)
    named = {**secrets, **{one.value: one.variable for values in issued.values() for one in values}}
    is_searching = any("re.search" in one.python for values in issued.values() for one in values)
    lines = ["import os", *(["import re"] if is_searching else []), "", "import httpx", ""]
    for place, step in enumerate(steps):
        lines += _sending(step.request, named)
        lines += [f'os.environ["{one.variable}"] = {one.python}' for one in issued.get(place, [])]
    return "\n".join(lines)


def _sending(request: Request, secrets: Mapping[str, str]) -> list[str]:
    arguments = [repr(request.method), _expanded(masked(request.url, secrets))]
    headers = {n: masked(t, secrets) for n, t in request.headers if n not in QUIET}
    if headers:
        pairs = ", ".join(f"{name!r}: {_expanded(text)}" for name, text in headers.items())
        arguments.append(f"headers={{{pairs}}}")
    if request.body:
        arguments.append(f"content={_content(request.body, secrets)}")
    return [
        f"response = httpx.request({', '.join(arguments)})",
        f"print(response.status_code, response.text[:{BODY_SHOWN}])",
    ]


def _content(body: bytes, secrets: Mapping[str, str]) -> str:
    text = text_of(body)
    if len(body) > BODY_SHOWN:
        return "open('body.bin', 'rb').read()"
    return repr(body) if text is None else _expanded(masked(text, secrets))


def _quoted(text: str, secrets: Mapping[str, str]) -> str:
    # in double quotes, so that the shell reads $OWNER_TOKEN, and nothing else
    names = "|".join(map(re.escape, secrets.values())) or "(?!)"
    escaped = re.sub(r'["\\`]', r"\\\g<0>", text)
    return '"' + re.sub(rf"\$(?!(?:{names})\b)", r"\$", escaped) + '"'


def _expanded(text: str) -> str:
    return f"os.path.expandvars({text!r})" if "$" in text else repr(text)
