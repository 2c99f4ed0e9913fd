"""A shell script of curl calls that judges each answer; it needs sh, curl and base64.

What would not survive a shell's quoting stands in base64, so that the script is one file.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator

from understudy.generate.cases import ENCODED, VARIABLE, Case
from understudy.generate.formats.export import (
    HIDDEN,
    TITLE,
    ExportSettings,
    OmittedCase,
    OutputPieces,
    byte_runs,
    comment,
    hides_secret,
    line,
    plain_text,
)
from understudy.generate.test_data import SECRETS

BODY_FILE = '"@$body"'
LONGEST = 100_000
"""Bytes of one argument; Linux takes 128 KB."""

_HEAD = r"""#!/bin/sh
# {title}. Runs every case and judges the answers.
# Secrets come from the environment, such as TOKEN; cases whose secrets are not set are skipped.
set -f
BASE_URL=${{BASE_URL:-{base_url}}}
AUTH_URL=${{AUTH_URL:-{auth_url}}}
ran=0 failed=0 skipped=0
body=$(mktemp)
trap 'rm -f "$body"' EXIT

try() {{ # id, what it is, expected statuses, expected location, then arguments of curl
  id=$1 what=$2 expected=$3 location=$4
  shift 4
  ran=$((ran + 1)) verdict=FAILED
  answer=$(curl --silent --show-error --output /dev/null --max-time 60 --path-as-is --globoff \
    --write-out '%{{http_code}} %{{redirect_url}}' "$@")
  status=${{answer%% *}}
  for one in $expected; do case $status in $one) verdict=ok ;; esac; done
  case "$status $location $answer" in
    3*"with error "*[?\&#]error=*) ;;
    3*"without error "*[?\&#]error=*) verdict=FAILED ;;
    3*"with error "*) verdict=FAILED ;;
  esac
  [ $verdict = ok ] || failed=$((failed + 1))
  printf '%-6s %s %s  %s\n' "$verdict" "$status" "$id" "$what"
}}

encoded() {{ # a text, for a query or a form
  printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'
}}

has() {{ # names of secrets
  for one in "$@"; do
    eval "[ -n \"\${{$one:-}}\" ]" && continue
    skipped=$((skipped + 1))
    return 1
  done
}}
"""

_TAIL = r"""
echo "$ran ran, $failed failed, $skipped skipped for want of a secret"
[ "$failed" -eq 0 ]"""


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the script."""
    urls = settings.base_urls
    yield line(
        _HEAD.format(
            title=TITLE,
            base_url=urls["resource"],
            auth_url=urls["authorization"],
        )
    )
    for name, value in settings.secrets.items():
        yield line(f"{name.upper()}=${{{name.upper()}:-{_quoted(value)}}}")
    for name in SECRETS:
        yield line(f'{(name + ENCODED).upper()}=$(encoded "${{{name.upper()}:-}}")')
    for case in cases:
        if hides_secret(case):
            yield OmittedCase(case, HIDDEN)
            continue
        for text in _lines(case):
            yield line(text)
    yield line(_TAIL)


def _lines(case: Case) -> Iterator[str]:
    request = case.request
    yield f"\n# {case.operation}, {case.kind}: {comment(case)}"
    if request.variables:
        yield f"has {' '.join(name.upper() for name in request.variables)} &&"
    inline = _inline(request.body)
    if request.body is not None and inline is None:
        yield "{"
        yield from _piecewise(request.body)
    said = [_quoted(case.id), _quoted(_plain(case.description))]
    statuses = " ".join(status.replace("X", "?") for status in case.expected.statuses)
    said += [_quoted(statuses), _quoted(case.expected.location)]
    method = "--head" if request.method == "HEAD" else f"--request {_quoted(request.method)}"
    yield f"try {' '.join(said)} {method} \\"
    for name, text in _headers(case):
        yield f"  --header {_quoted(f'{name}: {text}' if text.strip() else f'{name};')} \\"
    if request.body is not None:
        yield f"  --data-binary {_quoted(inline) if inline is not None else BODY_FILE} \\"
        if not any(name.lower() == "content-type" for name, _ in request.headers):
            yield "  --header 'Content-Type:' \\"
    base = "$BASE_URL" if request.site == "resource" else "$AUTH_URL"
    yield f'  "{base}"{_quoted(request.target)}'
    if request.body is not None and inline is None:
        yield "}"


def _headers(case: Case) -> Iterator[tuple[str, str]]:
    for name, text in case.request.headers:
        yield name, re.sub(r"[\r\n]", " ", text)


def _inline(content: bytes | None) -> str | None:
    """Returns a body that can be an argument, or None."""
    text = plain_text(content)
    is_argument = text is not None and len(content or b"") < LONGEST and not text.startswith("@")
    return text if is_argument else None


def _piecewise(content: bytes) -> Iterator[str]:
    """Yields what puts a body into a file; zeros are counted out."""
    yield ': > "$body"'
    for run in byte_runs(content):
        if run.times > 1:
            yield f'head -c {run.times} /dev/zero >> "$body"'
            continue
        yield "base64 -d >> \"$body\" <<'EOF'"
        yield from textwrap.wrap(run.in_base64, 100) or [""]
        yield "EOF"


def _quoted(text: str) -> str:
    """Returns a text in single quotes, with secrets as the shell's own variables in double ones."""
    parts = VARIABLE.split(text)
    quoted = [
        f'"${part.upper()}"' if place % 2 else "'" + part.replace("'", "'\\''") + "'"
        for place, part in enumerate(parts)
        if place % 2 or part or len(parts) == 1
    ]
    return "".join(quoted)


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
