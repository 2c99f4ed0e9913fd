"""``serve --tls``: https with a certificate that is made, or with one of a user's own."""

import json
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import trustme
from tests.cli.conftest import PATIENCE, UNDERSTUDY

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
