"""Tries each credential, slug and secret of a target once, before anything else is sent.

A mistake in the target file is said as such; without this it would look like a dozen findings about
the deployment.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final
from urllib.parse import urlencode

from understudy.errors import StartupError
from understudy.exchange.messages import Exchange
from understudy.verify.browsing import form_of, parameters, password_form, post, sign_in
from understudy.verify.permits import Refusal, Unreachable
from understudy.verify.probe_client import ProbeClient
from understudy.verify.target import Known, Target, TargetApplication

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
_GRANTING: Final = frozenset({"tokens", "auth_url", "app"})
"""The needs without which no password is tried."""

_TITLE = re.compile(r"<title[^>]*>([^<]{1,60})", re.IGNORECASE)


SIGNING_IN: Final = 3
"""Requests that trying a password at the sign-in page takes: the page, its form, and where it leads."""


def planned_requests(target: Target, needs: Collection[str]) -> int:
    """Returns how many requests the preflight sends where every value is right.

    Args:
        target: The target.
        needs: The needs of the probes that can run.
    """
    count = 1 + sum(need in needs for need in TOKENS)  # the document comes first
    count += "api_key" in needs and target.known.slug is not None
    count += len(_named_slugs(target.known, needs))
    count += len(_named_applications(target, needs))
    people = (application for _, application in _named_people(target, needs))
    count += SIGNING_IN * sum(None not in (each.username, each.password) for each in people)
    return count + (set(needs) >= _GRANTING and "two_step" in needs)


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
    if "api_key" in needs and client.known.slug:
        exchange = client.get(f"/profiles/{client.known.slug}", "api_key")
        if exchange.status == UNAUTHORIZED:
            yield "[credentials] api_key was refused with 401"


def _missing_profiles(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    writer = "owner" if client.has("owner") and "owner" in needs else "anonymous"
    for key, slug in _named_slugs(client.known, needs):
        if client.get(f"/profiles/{slug}", writer).status == NOT_FOUND:
            yield f'[known] {key} = "{slug}": there is no such public profile (404)'


def _named_slugs(known: Known, needs: Collection[str]) -> list[tuple[str, str]]:
    """Returns the slugs that are needed, each with its key."""
    slugs = [
        ("slug", known.slug),
        ("other_slug", known.other_slug),
        ("hidden_contact_slug", known.hidden_contact_slug),
        *(("people", slug) for slug in known.people),
    ]
    return [(key, slug) for key, slug in slugs if slug is not None and key in needs]


def _named_applications(
    target: Target, needs: Collection[str]
) -> list[tuple[str, TargetApplication]]:
    """Returns the applications whose secrets are needed, each with its table."""
    applications = {
        "app": ("application", target.application),
        "other_app": ("other_application", target.other_application),
    }
    is_permitted = {"tokens", "auth_url"} <= set(needs)
    return [named for need, named in applications.items() if is_permitted and need in needs]


def _refused_secrets(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    for table, application in _named_applications(client.target, needs):
        error = post(client, form_of(application, WRONG_CODE)).json_object.get("error")
        if error == "invalid_client":
            yield f"[{table}] client_id and client_secret were refused with invalid_client"


def _named_people(target: Target, needs: Collection[str]) -> list[tuple[str, TargetApplication]]:
    """Returns the applications whose owners' passwords are needed, each with its table."""
    people = [
        ("application", target.application, {"password", "approval", "denial"}),
        ("other_application", target.other_application, {"other_person"}),
    ]
    is_permitted = set(needs) >= _GRANTING
    return [(table, app) for table, app, uses in people if is_permitted and uses & set(needs)]


def _refused_passwords(client: ProbeClient, needs: Collection[str]) -> Iterator[str]:
    for table, application in _named_people(client.target, needs):
        if _is_refused(client, application):
            yield f"[{table}] username and password were refused"
    if "two_step" in needs and set(needs) >= _GRANTING:
        two_step = client.target.two_step
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
