"""Makes the scripts that reproduce a finding, for a shell or in Python.

Secrets are variables. A value that a response issues, such as a code or an avatar's id, is read from
the new response, since it differs each time. A value with reserved characters has two variables: as
it is, for headers and JSON, and percent-encoded, for addresses and forms.
"""

import base64
import bz2
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final
from urllib.parse import quote, quote_plus

from understudy.exchange.masking import masked
from understudy.exchange.messages import Exchange, Request
from understudy.verify.findings import BODY_SHOWN, QUIET, Finding, text_of
from understudy.verify.issued_values import IssuedValue, issued_values
from understudy.verify.turns import Turn, turns

PACKED_MOST: Final = 4000
"""Characters of the longest compressed body that a script contains."""

GLOB: Final = "[]{}"
"""Characters of an address that curl takes for a list of addresses."""

ENCODED: Final = "_ENCODED"
"""The end of the names of variables whose values are percent-encoded."""

Issued = Mapping[int, Sequence[IssuedValue]]


def commands(finding: Finding, secrets: Mapping[str, str]) -> list[str]:
    """Returns the lines of a shell script that sends the requests of a finding."""
    issued = issued_values(finding.steps)
    named = _named(secrets, issued)
    lines = []
    for turn in turns(finding, issued):
        if turn.seconds:
            text = f"{turn.described_pause}; a mock's clock can be moved instead"
            lines.append(f"sleep {turn.seconds}  # {text}")
        lines.append(_turn(turn, finding.steps, named, issued))
    text = "\n".join(lines)
    used = [name for name in secrets.values() if f"${name}{ENCODED}" in text]
    return [*map(_encoding, used), *lines]


def _named(secrets: Mapping[str, str], issued: Issued) -> dict[str, str]:
    """Returns the spellings of secrets and issued values, each with the variable that replaces it."""
    named = {**secrets, **{one.value: one.variable for one in chain(*issued.values())}}
    encoded = {
        spelling: f"{variable}{ENCODED}"
        for value, variable in named.items()
        for spelling in (quote(value, safe=""), quote_plus(value))
        if spelling != value
    }
    return {**named, **encoded}


def _is_encoded(one: IssuedValue) -> bool:
    """Tells whether an issued value reads otherwise in addresses and forms than in headers."""
    return one.source != "item" and quote(one.value, safe="") != one.value


def _encoding(variable: str) -> str:
    """Returns a command that percent-encodes the value of a variable into another."""
    encoding = "od -An -tx1 | tr -d ' \\n' | sed 's/../%&/g'"
    return f'{variable}{ENCODED}=$(printf %s "${variable}" | {encoding})'


def _decoding(variable: str) -> str:
    """Returns a command that decodes a percent-encoded value into the variable."""
    return f'{variable}=$(printf %b "${{{variable}{ENCODED}//%/\\\\x}}")'


def _turn(turn: Turn, steps: Sequence[Exchange], secrets: Mapping[str, str], issued: Issued) -> str:
    sent = [
        _keeping(curl(steps[place].request, secrets, turn.times), issued.get(place, []))
        for place in turn.places
    ]
    command = sent[0] if len(sent) == 1 else f"{' & '.join(sent)} & wait"
    if any("@body.bin" in text for text in sent):
        number = steps[turn.places[0]].number
        command += f"  # body.bin: the body of exchange {number}, which --report har=FILE keeps"
    return command


def _keeping(command: str, values: Sequence[IssuedValue]) -> str:
    """Returns a command that prints its response, and keeps issued values in variables."""
    if not values:
        return command
    if len(values) == 1:
        lines = [f"{_assigned(values[0])}$({command} | tee /dev/stderr | {_reading(values[0])})"]
    else:
        lines = [f"RESPONSE=$({command} | tee /dev/stderr)"]
        lines += [f'{_assigned(one)}$(printf "%s" "$RESPONSE" | {_reading(one)})' for one in values]
    lines += [
        _decoding(one.variable) if one.source == "redirect" else _encoding(one.variable)
        for one in values
        if _is_encoded(one)
    ]
    return "; ".join(lines)


def _read_variable(one: IssuedValue) -> str:
    """Returns the variable for a value as it is read: a redirect has it percent-encoded."""
    is_encoded = one.source == "redirect" and _is_encoded(one)
    return one.variable + (ENCODED if is_encoded else "")


def _assigned(one: IssuedValue) -> str:
    """Returns the beginning of an assignment: the variable, and of an item the path above it."""
    return f"{_read_variable(one)}={one.start}"


def _reading(one: IssuedValue) -> str:
    """Returns a command that reads a value from a response; the first, as pages repeat fields."""
    if one.source == "item":  # members of this name are counted, as nested objects have them too
        start = one.shell_pattern.partition(r"\(")[0]
        listing = f"grep -o '{start}[^\",}}]*' | sed -n {one.position + 1}p"
        return f"{listing} | sed 's/^{start}//'"
    return f"sed -n 's/.*{one.shell_pattern}.*/\\1/p' | sed 1q"


def curl(request: Request, secrets: Mapping[str, str], times: int = 1) -> str:
    """Returns a curl command that sends a request; secrets are shell variables.

    Args:
        request: The request.
        secrets: Each secret, and the variable that replaces it.
        times: How often it is sent, on one connection: curl counts in the fragment of an address,
            which is not sent.
    """

    def quoted(text: str) -> str:
        return _quoted(masked(text, secrets), secrets)

    parts = ["curl -I" if request.method == "HEAD" else "curl -i"]
    if "/." in request.url:
        parts.append("--path-as-is")
    if request.method != "HEAD" and (request.method != "GET" or request.body):
        parts.append(f"-X {request.method}")
    parts.append(quoted(_address(request.url, times)))
    for name, header in _headers(request):
        text = f"{name}: {masked(header, secrets)}" if header else f"{name};"
        parts.append(f"-H {quoted(text)}")
    body = _plain(request.body)
    if body and not request.header("content-type"):
        parts.append('-H "content-type:"')  # else curl says that it is a form
    if body is None:
        reading = _packed_body(request.body)
        parts.append("--data-binary @-" if reading else "--data-binary @body.bin")
        parts.insert(0, reading)
    elif body:
        parts.append(f"--data-raw {quoted(body)}")
    return " ".join(filter(None, parts))


def _address(url: str, times: int) -> str:
    """Returns an address as curl takes it: not as a list of addresses unless it is one."""
    literal = re.sub(f"[{re.escape(GLOB)}]", r"\\\g<0>", url)
    return f"{literal}#[1-{times}]" if times > 1 else literal


def _packed_body(body: bytes) -> str:
    """Returns a command that prints a body, with a pipe behind it; empty if it is too long."""
    if len(body) <= BODY_SHOWN:
        return f"echo {base64.b64encode(body).decode()} | base64 -d |"
    packed = _packed(body)
    return packed and f"echo {packed} | base64 -d | bunzip2 |"


def _headers(request: Request) -> Iterator[tuple[str, str]]:
    """Yields the headers that a script must send itself."""
    for name, header in request.headers:
        if name not in QUIET or (name == "accept" and header != "*/*"):
            yield name, header


def _plain(body: bytes) -> str | None:
    """Returns a body that a script contains as text; None if it is long, or not a text."""
    text = text_of(body)
    return None if text is None or len(body) > BODY_SHOWN or "\0" in text else text


def _packed(body: bytes) -> str:
    """Returns a long body compressed and in base64; empty if it is too long even so."""
    packed = base64.b64encode(bz2.compress(body)).decode()
    return packed if len(packed) <= PACKED_MOST else ""


def snippet(finding: Finding, secrets: Mapping[str, str]) -> str:
    """Returns a Python program that sends the requests; secrets come from the environment."""
    issued = issued_values(finding.steps)
    named = _named(secrets, issued)
    body: list[str] = []
    for turn in turns(finding, issued):
        body += [f"time.sleep({turn.seconds})  # {turn.described_pause}"] if turn.seconds else []
        body += _python_turn(turn, finding.steps, named)
        for place in turn.places:
            for one in issued.get(place, []):
                body += _python_variables(one)
    text = "\n".join(body)
    used = [name for name in secrets.values() if f"${name}{ENCODED}" in text]
    text = "\n".join([*map(_python_encoding, used), text])
    modules = ("base64", "bz2", "concurrent.futures", "os", "re", "time", "urllib.parse")
    imports = [f"import {name}" for name in modules if f"{name}." in text]
    return "\n".join([*imports, "", "import httpx", "", text]).lstrip()


def _python_variables(one: IssuedValue) -> list[str]:
    """Returns the lines that keep an issued value in variables."""
    lines = [f'os.environ["{_read_variable(one)}"] = {one.python}']
    if _is_encoded(one) and one.source == "redirect":
        text = f'urllib.parse.unquote(os.environ["{one.variable}{ENCODED}"])'
        lines.append(f'os.environ["{one.variable}"] = {text}')
    elif _is_encoded(one):
        lines.append(_python_encoding(one.variable))
    return lines


def _python_encoding(variable: str) -> str:
    text = f'urllib.parse.quote(os.environ["{variable}"], safe="")'
    return f'os.environ["{variable}{ENCODED}"] = {text}'


def _python_turn(turn: Turn, steps: Sequence[Exchange], secrets: Mapping[str, str]) -> list[str]:
    requests = [_arguments(steps[place].request, secrets) for place in turn.places]
    shown = f"print(response.status_code, response.text[:{BODY_SHOWN}])"
    if len(requests) > 1:
        sending = [f"    pool.submit(httpx.request, {arguments})," for arguments in requests]
        return [
            "pool = concurrent.futures.ThreadPoolExecutor()",
            *["sent = [", *sending, "]"],
            *["for each in sent:", "    response = each.result()", f"    {shown}"],
        ]
    lines = [f"response = httpx.request({requests[0]})", shown]
    if turn.times == 1:
        return lines
    return [f"for _ in range({turn.times}):", *(f"    {line}" for line in lines)]


def _arguments(request: Request, secrets: Mapping[str, str]) -> str:
    arguments = [repr(request.method), _expanded(masked(request.url, secrets))]
    headers = {name: masked(header, secrets) for name, header in _headers(request)}
    if headers:
        pairs = ", ".join(f"{name!r}: {_expanded(text)}" for name, text in headers.items())
        arguments.append(f"headers={{{pairs}}}")
    if request.body:
        arguments.append(f"content={_content(request.body, secrets)}")
    return ", ".join(arguments)


def _content(body: bytes, secrets: Mapping[str, str]) -> str:
    text = _plain(body)
    if text is not None:
        return _expanded(masked(text, secrets))
    if len(body) <= BODY_SHOWN:
        return repr(body)
    packed = _packed(body)
    if not packed:
        return "open('body.bin', 'rb').read()"
    return f'bz2.decompress(base64.b64decode("{packed}"))'


def _quoted(text: str, secrets: Mapping[str, str]) -> str:
    # in double quotes, so that the shell reads $OWNER_TOKEN, and nothing else
    names = "|".join(map(re.escape, secrets.values())) or "(?!)"
    escaped = re.sub(r'["\\`]', r"\\\g<0>", text)
    escaped = re.sub(rf"\$(?!(?:{names})\b)", r"\$", escaped)
    return '"' + escaped.replace("!", "\"'!'\"") + '"'  # a terminal reads !word as a command


def _expanded(text: str) -> str:
    return f"os.path.expandvars({text!r})" if "$" in text else repr(text)
