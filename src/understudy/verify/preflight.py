"""Tries each credential, slug and secret of a target once, before anything else is sent.

A mistake in the target file is said as such; without this it would look like a dozen findings about
the deployment.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from understudy.deployments.exchange import Exchange
from understudy.deployments.refusals import Refusal, Unreachable
from understudy.deployments.target import TargetApplication
from understudy.errors import StartupError
from understudy.verify.granting import form_of, post
from understudy.verify.probe_client import ProbeClient

UNAUTHORIZED, NOT_FOUND = 401, 404

TOKENS: Final[Mapping[str, str]] = {
    "owner": "access_token",
    "reader": "read_only_token",
    "auth_only": "auth_only_token",
    "other": "other_access_token",
    "private": "private_access_token",
    "disabled": "disabled_access_token",
}
"""The credentials whose token must be valid, and their keys; an expired one need not be."""

WRONG_CODE: Final = "understudy-wrong-code"
_TITLE = re.compile(r"<title[^>]*>([^<]{1,60})", re.IGNORECASE)


def preflight(client: ProbeClient, needs: Collection[str]) -> None:
    """Tries what the run needs of its target, each once.

    Args:
        client: Sends the requests.
        needs: The needs of the probes that can run.

    Raises:
        StartupError: The base URL is a web page, or a value of the target was refused.
    """
    mistakes: list[str] = []
    try:
        _expect_api(client.get("/openapi"), client.target.base_url)
        for find in (_refused_tokens, _refused_key, _missing_profiles, _refused_secrets):
            mistakes += find(client, needs)
    except Unreachable:
        return  # what does not respond is for the run to report
    except Refusal:
        pass  # the budget ends the preflight, not the run
    if mistakes:
        msg = f"{'; '.join(mistakes)}. Correct the target file, or leave the keys out."
        raise StartupError(msg)


def _expect_api(exchange: Exchange, base_url: str) -> None:
    is_page = exchange.response.media_type == "text/html"
    if not is_page or not exchange.response.is_success:
        return
    title = _TITLE.search(exchange.response.body.decode("utf-8", "replace"))
    named = f' ("{title[1].strip()}")' if title else ""
    msg = (
        f"base_url = {base_url!r} is a web page{named} and not the resource API; "
        "the API's address often ends with a version, such as /v3."
    )
    raise StartupError(msg)


def _refused_tokens(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    for need, key in TOKENS.items():
        if need in needs and client.get("/me/profile", need).status == UNAUTHORIZED:
            yield f"[credentials] {key} was refused with 401"


def _refused_key(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    if "api_key" in needs and client.known.slug is not None:
        exchange = client.get(f"/profiles/{client.known.slug}", "api_key")
        if exchange.status == UNAUTHORIZED:
            yield "[credentials] api_key was refused with 401"


def _missing_profiles(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    known = client.known
    slugs = {
        "slug": ("slug", known.slug),
        "other_slug": ("other_slug", known.other_slug),
        "hidden_contact_slug": ("hidden_contact_slug", known.hidden_contact_slug),
        **{f"people {slug}": ("people", slug) for slug in known.people},
    }
    writer = "owner" if client.has("owner") and "owner" in needs else "anonymous"
    for need, (key, slug) in slugs.items():
        if slug is None or need.partition(" ")[0] not in needs:
            continue
        if client.get(f"/profiles/{slug}", writer).status == NOT_FOUND:
            yield f"[known] {key}: there is no public profile {slug!r} (404)"


def _refused_secrets(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    target = client.target
    applications: Mapping[str, tuple[str, TargetApplication]] = {
        "app": ("application", target.application),
        "other_app": ("other_application", target.other_application),
    }
    for need, (table, application) in applications.items():
        if not {need, "tokens", "auth_url"} <= set(needs):
            continue
        error = post(client, form_of(application, WRONG_CODE)).json_object.get("error")
        if error == "invalid_client":
            yield f"[{table}] client_id and client_secret were refused with invalid_client"
