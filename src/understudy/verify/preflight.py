"""Tries each credential, slug and secret of a target once, before anything else is sent.

A mistake in the target file is said as such; without this it would look like a dozen findings about
the deployment.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final
from urllib.parse import urlencode

from understudy.deployments.exchange import Exchange
from understudy.deployments.refusals import Refusal, Unreachable
from understudy.deployments.target import TargetApplication
from understudy.errors import StartupError
from understudy.verify.browsing import sign_in
from understudy.verify.granting import form_of, parameters, password_form, post
from understudy.verify.probe_client import ProbeClient

UNAUTHORIZED, NOT_FOUND = 401, 404

TOKENS: Final[Mapping[str, str]] = {
    "owner": "access_token",
    "reader": "read_only_token",
    "auth_only": "auth_only_token",
    "no_auth": "no_auth_token",
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
        for find in TRIALS:
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
        f'base_url = "{base_url}" is a web page{named} and not the resource API; '
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
            yield f'[known] {key} = "{slug}": there is no such public profile (404)'


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


def _refused_passwords(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    if not {"tokens", "auth_url", "app"} <= set(needs):
        return
    target = client.target
    people: Mapping[str, tuple[TargetApplication, frozenset[str]]] = {
        "application": (target.application, frozenset({"password", "approval", "denial"})),
        "other_application": (target.other_application, frozenset({"other_person"})),
    }
    for table, (application, uses) in people.items():
        if uses & set(needs) and _is_refused(client, application):
            yield f"[{table}] username and password were refused"
    if "two_step" in needs:
        two_step = target.two_step
        if _is_invalid_grant(client, two_step, two_step.application_password):
            yield "[two_step] username and application_password were refused with invalid_grant"


def _is_refused(client: ProbeClient, application: TargetApplication) -> bool:
    """Tells whether neither the sign-in page nor the password grant accepts an owner's password.

    Where one of them does, the password is right, and what the other does is for the run to judge.
    """
    if application.username is None or application.password is None:
        return False
    query = urlencode(parameters(client.app))
    url = f"{(client.target.auth_url or '').rstrip('/')}/oauth2/authorize?{query}"
    if sign_in(client, url, application.username, application.password) == "accepted":
        return False
    return _is_invalid_grant(client, application, application.password)


def _is_invalid_grant(
    client: ProbeClient, application: TargetApplication, password: str | None
) -> bool:
    exchange = post(client, password_form(application, password=password))
    return exchange.json_object.get("error") == "invalid_grant"


TRIALS: Final = (
    _refused_tokens,
    _refused_key,
    _missing_profiles,
    _refused_secrets,
    _refused_passwords,
)
"""Each tries one kind of value, in this order."""
