"""``npx understudy-js``: which understudy it finds, and that it is as if one had called that."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import PATIENCE
from tests.npm.packing import installed

REFUSAL = (
    "understudy-js: understudy is not on PATH, and neither is uv or Python 3.11 or later. Install uv"
    " (https://docs.astral.sh/uv) or Python 3.11 or later; or run the container of"
    " examples/container and set UNDERSTUDY_URL=http://127.0.0.1:8080.\n"
)

PYTHON = """\
#!/bin/sh
case "$1 $2" in
  "-c "*) printf '%s\\n{version}\\n{recent}\\n{complete}\\n' "$0" ;;
  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-m pip") {install} ;;
  "-m understudy") echo "$@" ;;
esac
"""
"""A Python that answers the launcher's question, and makes environments that hold itself."""


LISTENS = """\
#!{node}
if (process.argv[2] === "--version") {{
  console.log("understudy, version 1");
}} else {{
  process.on("{name}", () => process.exit(9));
  require("fs").writeFileSync("{begun}", "");
  setInterval(() => {{}}, 1000);
}}
"""
"""An understudy that ends with 9 at a signal; a shell may miss one that comes while it forks."""


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("launcher")) / "dist" / "esm" / "launcher" / "cli.js"


class Machine:
    """A machine that has node, the few programs of a shell, and what a test writes."""

    def __init__(self, place: Path, command: Path) -> None:
        self.place, self.command = place, command
        self.programs = place / "bin"
        self.programs.mkdir()
        for name in ("node", "sh", "mkdir", "cp", "sleep"):
            (self.programs / name).symlink_to(Path(str(shutil.which(name))).resolve())

    def has(self, name: str, script: str) -> None:
        program = self.programs / name
        program.write_text(script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def has_python(self, install: str = ":", *, recent: int = 1, complete: int = 1) -> None:
        numbers = {"version": "3.12.1", "recent": recent, "complete": complete}
        self.has("python3", PYTHON.format(**numbers, install=install))

    def start(self, *words: str, **variables: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["node", str(self.command), *words],
            env={"PATH": str(self.programs), "HOME": str(self.place), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, **variables: str) -> tuple[int, str, str]:
        process = self.start(*words, **variables)
        output, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, output, errors

    def cached(self) -> list[str]:
        return [path.name for path in (self.place / ".cache" / "understudy-js").iterdir()]


@pytest.fixture
def machine(tmp_path: Path, command: Path) -> Machine:
    return Machine(tmp_path, command)


def installed_command(then: str) -> str:
    return f'[ "$1" = --version ] && echo "understudy, version 1" && exit\n{then}'


def test_options_and_the_exit_code_are_those_of_understudy(machine: Machine):
    machine.has("understudy", installed_command('printf "<%s>" "$@"; exit 7'))
    words = ("serve", "--choose", "rate-limits=off", "a b")
    assert machine.run(*words)[:2] == (7, "<serve><--choose><rate-limits=off><a b>")


def test_a_program_of_that_name_that_does_not_work_is_passed_over(machine: Machine):
    machine.has("understudy", "echo 'pyenv: understudy: command not found' >&2; exit 127")
    machine.has("uv", 'printf "<%s>" "$@"')
    code, output, _ = machine.run("verify", "--plan")
    (wheel,) = (machine.command.parents[3] / "python").glob("understudy_mock-*.whl")
    source = f"understudy-mock[verify] @ file://{wheel}"
    options = f"<tool><run><--python><>=3.11><--from><{source}><understudy>"
    assert (code, output) == (0, f"{options}<verify><--plan>")


@pytest.mark.parametrize(
    ("source", "requirement"),
    [
        ("understudy-mock==9", "understudy-mock[verify]==9"),
        ("https://x.example/u.whl", "understudy-mock[verify] @ https://x.example/u.whl"),
        ("/opt/u.whl", "understudy-mock[verify] @ file:///opt/u.whl"),
    ],
)
def test_another_package_may_be_named(machine: Machine, source: str, requirement: str):
    machine.has("uv", 'echo "$6"')
    assert machine.run("verify", UNDERSTUDY_PACKAGE=source)[1] == f"{requirement}\n"


def test_python_gets_an_environment_that_is_made_once(machine: Machine):
    machine.has_python()
    first, second = machine.run("serve", "--port", "0"), machine.run("serve", "--port", "0")
    assert first[:2] == second[:2] == (0, "-m understudy serve --port 0\n")
    assert "making an environment with Python 3.12.1, once" in first[2]
    assert second[2] == ""


def test_another_project_with_the_same_wheel_uses_the_same_environment(machine: Machine):
    machine.has_python()
    machine.run("rules")
    machine.command = installed(machine.place / "second") / "dist" / "esm" / "launcher" / "cli.js"
    assert machine.run("rules") == (0, "-m understudy rules\n", "")


def test_an_environment_that_nobody_used_for_a_month_is_removed(machine: Machine):
    machine.has_python()
    machine.run("rules")
    old = machine.place / ".cache" / "understudy-js" / "python-3.11.2-unused"
    old.mkdir()
    os.utime(old, (0, 0))
    machine.run("verify")  # needs another environment, with an extra
    assert not old.exists()
    assert len(machine.cached()) == 2


def test_a_mock_that_was_named_and_does_not_respond_is_mentioned(machine: Machine):
    machine.has("understudy", installed_command("exit 0"))
    errors = machine.run("serve", UNDERSTUDY_URL="http://127.0.0.1:9")[2]
    assert errors == (
        "No mock responds at http://127.0.0.1:9 (UNDERSTUDY_URL), so one is started here.\n"
    )


def test_first_starts_at_the_same_moment_leave_one_environment(machine: Machine):
    machine.has_python("sleep 0.3")
    processes = [machine.start("rules") for _ in range(4)]
    assert [process.communicate()[0] for process in processes] == ["-m understudy rules\n"] * 4
    assert len(machine.cached()) == 1


def test_an_installation_that_fails_says_why_and_is_tried_again(machine: Machine):
    machine.has_python("echo 'no such host: pypi.example' >&2; exit 1")
    code, _, errors = machine.run("serve")
    assert (code, machine.cached()) == (2, [])
    assert "-m pip install failed:\nno such host: pypi.example\n" in errors
    machine.has_python()
    assert machine.run("serve")[0] == 0


def test_an_installation_that_is_ended_leaves_nothing_behind(machine: Machine):
    machine.has_python(f"echo > {machine.place}/begun; exec sleep 60")
    process = machine.start("serve")
    wait_for((machine.place / "begun").exists, process)
    process.terminate()
    process.communicate(timeout=PATIENCE)
    assert (process.returncode, machine.cached()) == (-signal.SIGTERM, [])


def test_a_machine_without_any_of_them_is_told_what_to_install(machine: Machine):
    assert machine.run("serve") == (2, "", REFUSAL)
    machine.has_python(recent=0)
    assert machine.run("serve") == (2, "", REFUSAL)


def test_a_python_that_makes_no_environments_is_told_what_is_missing(machine: Machine):
    machine.has_python(complete=0)
    code, _, errors = machine.run("serve")
    assert code == 2
    assert "lacks ensurepip, which makes environments: install python3-venv, or uv" in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_are_passed_on(machine: Machine, number: signal.Signals):
    begun = machine.place / "begun"
    machine.has(
        "understudy", LISTENS.format(node=machine.programs / "node", begun=begun, name=number.name)
    )
    process = machine.start("serve")
    wait_for(begun.exists, process)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 9


def test_an_end_by_a_signal_is_told_as_a_shell_does(machine: Machine):
    machine.has("understudy", installed_command("kill -TERM $$"))
    assert machine.run("serve")[0] == 128 + signal.SIGTERM


def wait_for(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    while not condition():
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.02)
