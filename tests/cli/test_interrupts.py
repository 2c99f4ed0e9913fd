"""A signal ends a run wherever it finds the program."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from understudy.cli import main
from understudy.cli.interrupts import ended_by_sigterm


class Destructor:
    """Gets a signal while it is destroyed, where Python cannot raise."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self._number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_that_was_lost_in_a_destructor_is_raised_at_the_next_event(number: int):
    with ended_by_sigterm() as interruption:
        destroyed = Destructor(number)
        del destroyed
        with pytest.raises(KeyboardInterrupt):
            interruption.raise_lost()
        interruption.raise_lost()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_was_noticed_is_not_raised_again(number: int):
    with ended_by_sigterm() as interruption:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        interruption.forget()
        interruption.raise_lost()


def test_the_handlers_of_before_are_back_in_the_end():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with ended_by_sigterm():
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_ctrl_c_while_modules_load_ends_the_command_without_a_traceback(tmp_path: Path):
    interrupting = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "click.py").write_text(interrupting)
    program = (  # as in a terminal: whoever runs the tests in the background has SIGINT ignored
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from understudy.__main__ import main; main()"
    )
    command = [sys.executable, "-c", program, "--version"]
    surroundings = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=surroundings)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_ctrl_c_before_the_command_is_known_is_no_finding(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(click.Group, "parse_args", interrupted)
    stopped = CliRunner().invoke(main, ["rules"])
    assert (stopped.exit_code, stopped.output) == (130, "")
