"""Makes the scripts that reproduce a finding, for a shell or in Python, with pauses and repetitions.

Secrets are variables. A value that a response issues, such as a code or an avatar's id, is read from
the new response, since it differs each time. A value with reserved characters has two variables: as
it is, for headers and JSON, and percent-encoded, for addresses and forms.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from math import ceil
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus

from understudy.exchange.curl import call_arguments, curl
from understudy.exchange.masking import BODY_SHOWN
from understudy.exchange.messages import Exchange
from understudy.verify.findings import Finding
from understudy.verify.issued_values import IssuedValue, issued_values
from understudy.verify.permits import SAFE
from understudy.verify.value_texts import NEARLY

_MOMENT: Final = timedelta(seconds=1)
"""The shortest pause between two steps that a script keeps."""


class Turn(NamedTuple):
    """Steps that a script sends at the same moment; mostly there is just one.

    Attributes:
        places: Their indexes among the steps of the finding.
        times: How often they are sent.
        seconds: Seconds to wait before them.
    """

    places: tuple[int, ...]
    times: int = 1
    seconds: int = 0

    @property
    def described_pause(self) -> str:
        """The time to wait before them, as ``14 days, 0:02:00``."""
        return str(timedelta(seconds=self.seconds))


def turns(finding: Finding, issuing: Collection[int]) -> list[Turn]:
    """Returns the turns in which the steps of a finding are sent.

    Args:
        finding: The finding.
        issuing: The steps whose responses have values that later steps need, by index.
    """
    arranged: list[Turn] = []
    for place, step in enumerate(finding.steps):
        last = arranged[-1] if arranged else Turn(())
        before = finding.steps[place - 1] if place else None
        seconds = _seconds(before, step) if finding.needs_time else 0
        is_issuing = bool({place, place - 1} & set(issuing))
        if not is_issuing and _are_at_once(before, step):
            arranged[-1] = last._replace(places=(*last.places, place))
        elif not (is_issuing or seconds or last.places[1:]) and (
            before is not None and before.request == step.request
        ):
            arranged[-1] = last._replace(times=last.times + 1)
        else:
            arranged.append(Turn((place,), seconds=seconds))
    if finding.attempts > 1:
        times = arranged[0].times + finding.attempts - 1
        arranged[0] = arranged[0]._replace(times=times)
    return arranged


def _seconds(before: Exchange | None, step: Exchange) -> int:
    """Returns the seconds between two steps, rounded up; 0 for less than one."""
    passed = step.at - before.at if before is not None else timedelta(0)
    return ceil(passed.total_seconds()) if passed >= _MOMENT else 0


def _are_at_once(before: Exchange | None, step: Exchange) -> bool:
    """Tells whether two writes were sent at the same moment: one began before the other ended."""
    if before is None or {before.request.method, step.request.method} & SAFE:
        return False
    first, second = sorted((before, step), key=lambda each: each.at)
    return second.at < first.at + timedelta(milliseconds=first.elapsed_ms)


ENCODED: Final = "_ENCODED"
"""Suffix of the names of variables whose values are percent-encoded."""

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
    made = [f"{name}={NEARLY[way].shell % base}" for name, way, base in made_variables(secrets)]
    made = [line for line in made if f"${line.partition('=')[0]}" in text]
    return [*made, *map(_encoding, used), *lines]


def made_variables(secrets: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yields each variable of a secret's near copy, how it is made, and the secret's variable."""
    for secret, base in secrets.items():
        for way, near in NEARLY.items():
            variable = secrets.get(near.make(secret), "")
            if way.upper() in variable:
                yield variable, way, base


def _named(secrets: Mapping[str, str], issued: Issued) -> dict[str, str]:
    """Returns the encodings of secrets and issued values, with the variables that replace them."""
    named = {**secrets, **{one.value: one.variable for one in chain(*issued.values())}}
    encoded = {
        spelling: f"{variable}{ENCODED}"
        for value, variable in named.items()
        for spelling in (quote(value, safe=""), quote_plus(value))
        if spelling != value
    }
    return {**named, **encoded}


def _is_encoded(one: IssuedValue) -> bool:
    """Tells whether an issued value is percent-encoded in URLs and forms."""
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
    """Returns a command that also prints its response, and stores issued values in variables."""
    if not values:
        return command
    nearly = [one for one in values if one.form]
    values = [one for one in values if not one.form]
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
    for one in nearly:
        lines.append(f"{one.variable}={NEARLY[one.form].shell % one.start}")
        lines += [_encoding(one.variable)] if _is_encoded(one) else []
    return "; ".join(lines)


def _read_variable(one: IssuedValue) -> str:
    """Returns the variable into which a value is read; a redirect has it percent-encoded."""
    is_encoded = one.source == "redirect" and _is_encoded(one)
    return one.variable + (ENCODED if is_encoded else "")


def _assigned(one: IssuedValue) -> str:
    """Returns the beginning of an assignment: the variable, and for an item the path above it."""
    return f"{_read_variable(one)}={one.start}"


def _reading(one: IssuedValue) -> str:
    """Returns a command that reads the first match from a response, as pages repeat fields."""
    if one.source == "item":  # members of this name are counted, as nested objects have them too
        start = one.shell_pattern.partition(r"\(")[0]
        listing = f"grep -o '{start}[^\",}}]*' | sed -n {one.position + 1}p"
        return f"{listing} | sed 's/^{start}//'"
    return f"sed -n 's/.*{one.shell_pattern}.*/\\1/p' | sed 1q"


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
    made = [
        f'os.environ["{name}"] = ' + NEARLY[way].python % f'os.environ["{base}"]'
        for name, way, base in made_variables(secrets)
        if f"${name}" in text or f'"{name}"' in text
    ]
    text = "\n".join([*made, *map(_python_encoding, used), text])
    modules = ("base64", "gzip", "concurrent.futures", "os", "re", "time", "urllib.parse")
    imports = [f"import {name}" for name in modules if f"{name}." in text]
    return "\n".join([*imports, "", "import httpx", "", text]).lstrip()


def _python_variables(one: IssuedValue) -> list[str]:
    """Returns the lines that store an issued value in variables."""
    if one.form:
        made = NEARLY[one.form].python % f'os.environ["{one.start}"]'
        lines = [f'os.environ["{one.variable}"] = {made}']
        return [*lines, _python_encoding(one.variable)] if _is_encoded(one) else lines
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
    requests = [call_arguments(steps[place].request, secrets) for place in turn.places]
    shown = f"print(response.status_code, response.text[:{BODY_SHOWN}])"
    if len(requests) > 1:
        sending = [f"    pool.submit(httpx.request, {arguments})," for arguments in requests]
        return [
            "pool = concurrent.futures.ThreadPoolExecutor()",
            "sent = [",
            *sending,
            "]",
            "for each in sent:",
            "    response = each.result()",
            f"    {shown}",
        ]
    lines = [f"response = httpx.request({requests[0]})", shown]
    if turn.times == 1:
        return lines
    return [f"for _ in range({turn.times}):", *(f"    {line}" for line in lines)]
