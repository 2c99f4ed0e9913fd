"""Asks what a target file needs to say, and writes it."""

from pathlib import Path

import click

from understudy.contract.target import is_loopback
from understudy.errors import StartupError

HEADER = "# What `understudy verify` judges, and what it may do there. A value may be env:NAME.\n"


def ask_for_target(path: Path) -> None:
    """Asks, and writes a target file.

    Raises:
        StartupError: There is one already, or it cannot be written.
    """
    if path.exists():
        msg = f"{path} is there already; give --target another name, or delete it first."
        raise StartupError(msg)
    base_url = click.prompt("Address of the resource API (ends in /v3)")
    auth_url = click.prompt("Address of the authorization server (empty: do not judge it)", "")
    usual = "own" if is_loopback(base_url) else "observe"
    mode = click.prompt("May it write? observe, own or full", usual)
    slug = click.prompt("Slug of the test account's profile (empty: none)", "")
    email = click.prompt("Its primary e-mail address (empty: none)", "")
    token = click.prompt("Its access token, or env:NAME (empty: none)", "")
    api_key = click.prompt("An API key, or env:NAME (empty: none)", "")
    lines = [HEADER, f"base_url = {_quoted(base_url)}"]
    lines += [f"auth_url = {_quoted(auth_url)}"] if auth_url else []
    lines += [f"mode = {_quoted(mode)}", "", "[credentials]"]
    lines += [f"access_token = {_quoted(token)}"] if token else []
    lines += [f"api_key = {_quoted(api_key)}"] if api_key else []
    lines += ["", "[known]"]
    lines += [f"slug = {_quoted(slug)}"] if slug else []
    lines += [f"emails = [{_quoted(email)}]"] if email else []
    lines += ["", "[permit]", "uploads = false", "tokens = false", "exhaust_rate_limit = false"]
    lines += ["", "[budget]  # an hour", "anonymous = 100", "token = 1000", ""]
    try:
        path.write_text("\n".join(lines))
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}."
        raise StartupError(msg) from error
    click.echo(f"{path} is written. Next: understudy verify --target {path} --plan")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
