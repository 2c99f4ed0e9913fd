"""A test that leaves something running fails itself, and no other test does."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.documentation import ROOT

PLUGINS = """
from tests.leftovers import Leftovers, Orphans

def pytest_configure(config):
    config.pluginmanager.register(Leftovers())
    config.pluginmanager.register(Orphans())
"""

START = """
import subprocess, sys, threading, pytest

STOP = threading.Event()

def process():
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

def thread():
    it = threading.Thread(target=STOP.wait, name="left", daemon=True)
    it.start()
    return it
"""

LEAVES_A_THREAD = """
def test_first():
    thread()

def test_second():
    pass
"""

LEAVES_A_PROCESS = """
LEFT = []

def test_first():
    LEFT.append(process())

def test_second():
    LEFT[0].communicate()
"""

LEAVES_A_SERVER = """
import socket
LEFT = []

def test_first():
    LEFT.append(socket.create_server(("127.0.0.1", 0)))

def test_second():
    LEFT[0].close()
"""

A_FIXTURE_THAT_FAILS_HALFWAY = """
@pytest.fixture(scope="module")
def server():
    thread()
    raise OSError("no port")

def test_first(server):
    pass

def test_second():
    pass
"""

A_MODULE_HAS_A_SERVER = """
@pytest.fixture(scope="module")
def server():
    child, helper = process(), thread()
    yield
    child.communicate()
    STOP.set()
    helper.join()

def test_first(server):
    pass

def test_second(server):
    pass
"""

A_MODULE_LEAVES_ITS_SERVER = A_MODULE_HAS_A_SERVER.replace("    helper.join()\n", "").replace(
    "    STOP.set()\n", ""
)

LEAVES_AN_ORPHAN = """
def test_first():
    subprocess.run(["sh", "-c", "sleep 600 >/dev/null 2>&1 &"], check=True)
"""


def run(place: Path, text: str) -> str:
    """Runs tests of their own in another pytest, whose patience is short; returns what it prints."""
    (place / "conftest.py").write_text(PLUGINS)
    (place / "test_it.py").write_text(START + text)
    program = "import sys, pytest, tests.leftovers as it; it.GRACE = 0.2; sys.exit(pytest.main(sys.argv[1:]))"
    options = ("-q", "-rfE", "-n0", "-p", "no:cacheprovider", "-c", "none.ini", str(place))
    (place / "none.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-c", program, *options[:-2], str(place / "none.ini"), str(place)],
        cwd=ROOT,
        env={
            name: text for name, text in os.environ.items() if name != "CI"
        },  # repeats messages whole
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "charged", "left"),
    [
        (LEAVES_A_THREAD, "test_first", "thread left"),
        (LEAVES_A_PROCESS, "test_first", "process "),
        (LEAVES_A_SERVER, "test_first", "listening socket:["),
        (A_FIXTURE_THAT_FAILS_HALFWAY, "test_first", "thread left"),
        (A_MODULE_LEAVES_ITS_SERVER, "test_second", "thread left"),
    ],
)
def test_the_test_that_leaves_something_is_charged(
    tmp_path: Path, text: str, charged: str, left: str
):
    said = run(tmp_path, text)
    assert f"::{charged} leaves behind:\n{left}" in said
    assert said.count(" leaves behind:\n") == 1


def test_what_a_module_shares_lives_until_its_end(tmp_path: Path):
    assert "2 passed" in run(tmp_path, A_MODULE_HAS_A_SERVER)


def test_an_orphan_fails_the_session_and_names_its_test(tmp_path: Path):
    said = run(tmp_path, LEAVES_AN_ORPHAN)
    found = re.search(
        r"test_it.py::test_first \(call\) leaves behind process (\d+): sleep 600", said
    )
    assert found is not None, said
    os.kill(int(found[1]), signal.SIGKILL)
