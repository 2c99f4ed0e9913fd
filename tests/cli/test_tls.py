"""``serve --tls``: https with a certificate that is made, or with one of a user's own."""

import json
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import trustme
from tests.cli.conftest import PATIENCE, UNDERSTUDY
from tests.needs import program

pytestmark = pytest.mark.usefixtures("measured_children")

LOOKS_UP = (
    "import os, ssl, urllib.request as r; "
    "print(r.urlopen(os.environ['UNDERSTUDY_BASE_URL'] + '/profiles/ada').status)"
)


def test_a_certificate_is_made_and_serves_both_addresses(serve, tmp_path: Path):
    running = serve("--tls", str(tmp_path / "tls"), "--log", "off")
    trusted = ssl.create_default_context(cafile=str(tmp_path / "tls" / "ca.pem"))
    with httpx.Client(verify=trusted, trust_env=False, timeout=PATIENCE) as client:
        profile = client.get(f"{running.base_url}/profiles/ada").json()
        assert client.get(f"{running.auth_url}/oauth2/token").status_code == 405
    assert profile["avatar_url"].startswith(running.base_url.removesuffix("/v3"))
    assert running.base_url.startswith("https://127.0.0.1:")
    assert json.loads(running.ready_file.read_text())["certificate_authority"].endswith("ca.pem")
    assert (tmp_path / "tls" / "key.pem").stat().st_mode & 0o077 == 0


def test_a_certificate_of_ones_own_is_used(serve, tmp_path: Path):
    authority = trustme.CA()
    own = authority.issue_cert("127.0.0.1")
    own.private_key_pem.write_to_path(str(tmp_path / "key.pem"))
    own.cert_chain_pems[0].write_to_path(str(tmp_path / "cert.pem"))
    running = serve("--tls", str(tmp_path), "--log", "off")
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    with httpx.Client(verify=trusted, trust_env=False, timeout=PATIENCE) as client:
        assert client.get(f"{running.base_url}/profiles/ada").status_code == 200
    assert not (tmp_path / "ca.pem").exists()


def test_half_a_certificate_is_refused(run, tmp_path: Path):
    (tmp_path / "key.pem").write_text("")
    refused = run("serve", "--tls", str(tmp_path))
    assert refused.returncode == 2
    assert "has key.pem and no cert.pem; put both there, or neither." in refused.stderr


def test_what_is_no_certificate_is_refused_before_a_port_is_opened(run, tmp_path: Path):
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).write_text("a text")
    ran = run("serve", "--tls", str(tmp_path))
    assert ran.returncode == 2
    assert "are not a certificate and its key in PEM; correct them, or remove both" in ran.stderr


def test_a_command_trusts_the_mock_that_it_is_run_with(tmp_path: Path):
    command = [
        str(UNDERSTUDY),
        "exec",
        "--tls",
        str(tmp_path),
        "--",
        sys.executable,
        "-c",
        LOOKS_UP,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "200\n", done.stderr


def test_the_certificate_is_for_the_host_names_that_are_given(serve, tmp_path: Path):
    names = ["api.example.com", "example.com"]
    options = [text for name in names for text in ("--admin-host", name)]
    running = serve("--single-port", "--tls", str(tmp_path / "tls"), "--log", "off", *options)
    trusted = ssl.create_default_context(cafile=str(tmp_path / "tls" / "ca.pem"))
    address = ("127.0.0.1", int(running.base_url.removesuffix("/v3").rpartition(":")[2]))
    for name in names:
        with socket.create_connection(address) as plain:
            trusted.wrap_socket(plain, server_hostname=name).close()


AT_FIXED_HOSTS = """
import sys, urllib.error, urllib.request as r
for url in sys.argv[1:]:
    try:
        print(r.urlopen(url).status)
    except urllib.error.URLError as error:
        print(getattr(error, "code", "") or error.reason)
"""


def test_a_client_with_fixed_hosts_reaches_the_mock_at_the_named_ones_and_nothing_at_others():
    hosts = ["--as-host", "api.example.com", "--as-host=example.com"]
    urls = [
        "https://api.example.com/v3/profiles/ada",
        "http://example.com/v3/profiles/ada",
        "https://other.example.com/v3/profiles/ada",
        "http://other.example.com/v3/profiles/ada",
    ]
    command = [str(UNDERSTUDY), "exec", *hosts, "--", sys.executable, "-c", AT_FIXED_HOSTS, *urls]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "200",
        "200",
        "Tunnel connection failed: 403 Forbidden",
        "403",
    ], done.stderr
    assert "other.example.com was refused; add --as-host other.example.com for" in done.stderr


def test_what_is_no_host_name_is_refused(run):
    refused = run("exec", "--as-host", "https://api.example.com", "--", "true")
    assert refused.returncode == 2
    assert "is not a host name; write it as api.example.com." in refused.stderr


PLACES = [("https", "api"), ("http", "api"), ("https", "other"), ("http", "other")]
AT_FIXED_HOSTS_IN_NODE = """
const shown = (url) => fetch(url).then(({ status }) => status, ({ cause }) => cause.message.slice(-34));
Promise.all(process.argv.slice(1).map(shown)).then((all) => console.log(all.join("\\n")));
"""


def test_node_reaches_the_mock_at_the_named_hosts_and_nothing_at_others():
    urls = [f"{scheme}://{name}.example.com/v3/profiles/ada" for scheme, name in PLACES]
    node = [program("node"), "-e", AT_FIXED_HOSTS_IN_NODE, *urls]
    command = [str(UNDERSTUDY), "exec", "--as-host", "api.example.com", "--", *node]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    refusal = "--as-host other.example.com for this one."[-34:]
    assert done.stdout.splitlines() == ["200", "200", refusal, refusal], done.stderr
