"""Runs ``understudy demo``: a mock, and a faulty staging deployment to judge with verify.

The staging deployment is a second mock, at one port, with the faults of ``api.demo``.
"""

from collections.abc import Callable, Mapping
from typing import Final

import click

from understudy.api.demo import FAULTS, plain, staging
from understudy.cli.mock_commands import DemoOptions
from understudy.cli.options import expect_different
from understudy.cli.serve import run_loop
from understudy.cli.writing import expect_writable, ready_file
from understudy.mock.server import serving

HOST: Final = "127.0.0.1"

TARGET: Final = """\
# The staging of `understudy demo`; a target file of your own deployment looks alike.
base_url = "{url}/v3"
auth_url = "{url}"
mode = "own"

[credentials]
access_token = "ada-full"
read_only_token = "ada-read-only"

[known]
slug = "ada"
other_slug = "ben"
emails = ["ada@example.com"]
"""


def demo(options: DemoOptions, _environment: Mapping[str, str]) -> None:
    """Serves the mock and the staging until Ctrl-C, and writes the target file of the staging.

    Raises:
        StartupError: A port is in use, or the file cannot be written.
    """
    expect_writable(options.target, "--target")
    announce = ready_file(options.ready_file)
    ports = {
        "--port": options.port,
        "--auth-port": options.auth_port,
        "--staging-port": options.staging_port,
    }
    expect_different(ports)
    resource, authorization, staged = (serving.bind(HOST, ports[name], name) for name in ports)
    url, auth_url, staging_url = map(serving.url_of, (resource, authorization, staged))
    # the ledger counts requests of the hour, but those went to the staging of an earlier demo
    options.target.with_suffix(".ledger").unlink(missing_ok=True)
    options.target.write_text(TARGET.format(url=staging_url), encoding="utf-8")

    def ready(_stop: Callable[[], None]) -> None:
        click.echo("\n".join(first_screen(options, url, staging_url)))
        announce(
            {"base_url": f"{url}/v3", "auth_url": auth_url, "staging_url": f"{staging_url}/v3"}
        )

    site, sign_in = plain(url, auth_url)
    staging_site = staging(staging_url, is_fixed=options.is_fixed)
    applications = {authorization: sign_in, resource: site, staged: staging_site}
    run_loop(serving.serve(applications, ready=ready))


def first_screen(options: DemoOptions, url: str, staging_url: str) -> list[str]:
    """Returns the lines with the addresses of both, the faults, and the next command."""
    state = "without faults" if options.is_fixed else "with three faults"
    faults = [] if options.is_fixed else [f"    {fault}" for fault in FAULTS]
    target = options.target
    return [
        f"{click.style('mock', bold=True)}     {url}/v3   console {url}/__console",
        f"{click.style('staging', bold=True)}  {staging_url}/v3   console {staging_url}/__console",
        f"The staging runs {state}; {target} is its target file.",
        *faults,
        f"Next, in another terminal: understudy verify --target {target} --report html=report.html",
        click.style("Ctrl-C stops.", dim=True),
    ]
