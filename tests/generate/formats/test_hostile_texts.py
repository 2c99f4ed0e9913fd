"""Whatever a document, a target or a secret says, running an output in its tool runs none of it."""

import ast
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.generate.formats import hostile
from tests.generate.formats.conftest import PYTEST, generate, without_secrets
from tests.generate.formats.hostile import CANARY, PAYLOADS, Server
from tests.needs import program

from understudy.cases.model import VARIABLE
from understudy.cases.test_data import SECRETS
from understudy.errors import StartupError
from understudy.generate.formats import bruno, curl, http_file, pytest_module
from understudy.generate.formats.export import javascript

STUBS = Path(__file__).parent / "k6_stubs"

WORDS: dict[str, tuple[str, tuple[object, ...]]] = {
    "curl": ("sh", ("out.js",)),
    "pytest": ("pytest", (*PYTEST, "out.py")),
    "postman": ("newman", ("run", "out.js", "--working-dir", ".")),
    "bruno": ("bru", ("run", "-r", "--sandbox", "developer")),  # where scripts can write files
    "k6": ("node", ("--import", STUBS / "register.mjs", STUBS / "run.mjs", "out.js")),
    "http": ("httpyac", ("send", "out.js", "--all", "--output", "none")),
}
"""Format to its tool and the tool's arguments."""

OUT = {"bruno": "out", "pytest": "out.py"}

SCRIPTS = ("curl", "pytest", "k6")
"""Formats that are programs, and can hold any secret."""


@pytest.fixture
def server() -> Iterator[Server]:
    with hostile.serving() as server:
        yield server


def run(directory: Path, program: str, form: str, secret: str) -> None:
    """Runs an output in its tool; whether the responses are right does not matter here."""
    cwd = directory / "out" if form == "bruno" else directory
    secrets = {name: secret for name in SECRETS if "\0" not in secret}
    environment = {**without_secrets(), **secrets, "HOME": str(directory), "CI": "1"}
    words = [program, *map(str, WORDS[form][1])]
    if form == "postman":  # which reads no variable of the process
        words += [word for pair in secrets.items() for word in ("--env-var", "=".join(pair))]
    subprocess.run(words, cwd=cwd, env=environment, capture_output=True, check=False, timeout=240)


def address(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


@pytest.mark.parametrize("form", WORDS)
def test_a_hostile_document_runs_nothing(form: str, server: Server, tool, tmp_path: Path):
    tool_path = tool(WORDS[form][0])
    out = tmp_path / OUT.get(form, "out.js")
    count = 2 if form == "bruno" else 6
    words = (
        "--document",
        hostile.write(tmp_path),
        "--format",
        form,
        "--out",
        out,
        "--count",
        count,
    )
    done = generate(*words, "--base-url", address(server))
    assert done.exit_code == 0, done.output
    run(tmp_path, tool_path, form, "secret")
    assert [*tmp_path.rglob(CANARY)] == []
    assert server.seen > len(PAYLOADS)


def target(directory: Path, server: Server, text: str) -> Path:
    """Writes a target file in which every person, application and secret has a hostile name."""
    quoted = json.dumps(text).replace("\\u0000", "0")
    credentials = ("access_token", "read_only_token", "api_key", "other_access_token")
    application = ("client_id", "client_secret", "redirect_uri", "username", "password", "deny")
    lines = [f'base_url = "{address(server)}"', f'auth_url = "{address(server)}"']
    lines += ["[credentials]", *(f"{name} = {quoted}" for name in credentials)]
    lines += ["[application]", *(f"{name} = {quoted}" for name in application)]
    lines += ["[known]", f"slug = {quoted}", f"emails = [{quoted}]", f"private_slug = {quoted}"]
    path = directory / "target.toml"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("form", SCRIPTS)
@pytest.mark.parametrize(
    "text", [PAYLOADS[0], PAYLOADS[2], PAYLOADS[4], PAYLOADS[13], PAYLOADS[29]]
)
def test_hostile_test_data_and_secrets_run_nothing(form, text, server, tool, tmp_path):
    tool_path = tool(WORDS[form][0])
    words = ("--target", target(tmp_path, server, text), "--format", form, "--count", 3)
    done = generate(*words, "--out", tmp_path / OUT.get(form, "out.js"), "--include-secrets")
    assert done.exit_code == 0, done.output
    run(tmp_path, tool_path, form, text)
    assert [*tmp_path.rglob(CANARY)] == []
    assert server.seen > 10


@pytest.mark.parametrize("form", ["bruno", "http"])
def test_a_secret_that_a_line_cannot_hold_is_refused(form, server, tmp_path):
    words = ("--target", target(tmp_path, server, PAYLOADS[4]), "--format", form, "--count", 1)
    refused = generate(*words, "--out", tmp_path / "out", "--include-secrets")
    assert refused.exit_code == 2
    assert "choose another format" in refused.stderr


@pytest.mark.parametrize(
    "url",
    [
        *(
            "foo",
            "ftp://a",
            "file:///etc",
            "http://",
            "http://a b",
            "http://a/'x'\n",
            "http://u:p@h",
        ),
        *(f"http://h/{text}" for text in PAYLOADS if set(text) & set(' \n"`<>{}|\\^')),
    ],
)
def test_what_is_no_base_url_is_refused(url: str, tmp_path: Path):
    refused = generate("getProfile", "--base-url", url, "--out", tmp_path / "out.sh")
    assert refused.exit_code == 2
    assert "is not a URL; write it as https://host/path." in refused.stderr


def test_a_base_url_of_strange_but_legal_characters_runs_nothing(server: Server, tmp_path: Path):
    url = f"{address(server)}/$(touch${{IFS}}{CANARY});'touch'".replace("{", "").replace("}", "")
    generate("getProfile", "--base-url", url, "--count", 2, "--out", tmp_path / "out.js")
    run(tmp_path, "sh", "curl", "secret")
    assert [*tmp_path.rglob(CANARY)] == []
    assert server.seen == 2


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
    lambda text: VARIABLE.search(text) is None
)


@settings(max_examples=40)
@given(st.lists(TEXTS | st.sampled_from(PAYLOADS[:-2]), min_size=1, max_size=30))
def test_the_shell_reads_a_quoted_text_as_it_is(texts: list[str]):
    script = "printf '%s\\0' " + " ".join(map(curl.quoted, texts))
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    assert done.stdout == b"".join(text.encode() + b"\0" for text in texts)


@settings(max_examples=10)
@given(st.lists(TEXTS | st.sampled_from(PAYLOADS), min_size=20, max_size=200))
def test_javascript_reads_a_quoted_text_as_it_is(texts: list[str]):
    script = f"process.stdout.write(JSON.stringify({javascript(texts)}))"
    done = subprocess.run(
        [program("node"), "-"],
        input=script.encode(),
        capture_output=True,
        check=True,
        env=os.environ,
    )
    assert json.loads(done.stdout) == texts


@given(st.recursive(TEXTS | st.none(), st.lists))
def test_python_reads_a_quoted_value_as_it_is(value: object):
    quoted = pytest_module.quoted(value)
    assert quoted.isascii()
    assert "\n" not in quoted
    assert ast.literal_eval(quoted) == value


@pytest.mark.parametrize("quoted", [bruno.quoted, http_file.quoted], ids=["bruno", "http"])
@given(text=TEXTS | st.sampled_from(PAYLOADS[:-2]))
def test_a_template_line_is_one_line_without_a_template_or_is_refused(quoted, text):
    try:
        written = quoted(text)
    except StartupError:
        return
    assert written == text
    assert written.isprintable()
    assert "{{" not in written
