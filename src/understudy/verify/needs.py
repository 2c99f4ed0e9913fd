"""Names what a probe needs of the target, and the reason to report where the target lacks it."""

from collections.abc import Callable, Mapping
from typing import Final

from understudy.deployments.clock import Time
from understudy.deployments.target import Target


def _app(target: Target) -> bool:
    app = target.application
    return None not in (app.client_id, app.client_secret, app.redirect_uri)


def _decision(command: str | None, target: Target) -> bool:
    return command is not None or None not in (
        target.application.username,
        target.application.password,
    )


_TARGET_NEEDS: Final[Mapping[str, tuple[Callable[[Target], object], str]]] = {
    "slug": (lambda t: t.known.slug, "[known] slug is not given"),
    "emails": (lambda t: t.known.emails, "[known] emails are not given"),
    "hashes": (lambda t: t.known.own_hashes, "[known] emails or hashes are not given"),
    "two_emails": (lambda t: t.known.own_hashes[1:], "[known] gives fewer than two e-mails"),
    "other_slug": (lambda t: t.known.other_slug, "[known] other_slug is not given"),
    "other_hashes": (lambda t: t.known.others_hashes, "[known] other_emails are not given"),
    "other_emails": (lambda t: t.known.other_emails, "[known] other_emails are not given"),
    "people": (lambda t: t.known.people, "[known] people are not given"),
    "private_slug": (lambda t: t.known.private_slug, "[known] private_slug is not given"),
    "hidden_contact_slug": (
        lambda t: t.known.hidden_contact_slug,
        "[known] hidden_contact_slug is not given",
    ),
    "writes": (lambda t: t.writes != "observe", "writing is not permitted: the mode is observe"),
    "uploads": (lambda t: t.permit.uploads, "not permitted: [permit] uploads = true"),
    "tokens": (lambda t: t.permit.tokens, "not permitted: [permit] tokens = true"),
    "exhaust": (
        lambda t: t.permit.exhaust_rate_limit,
        "not permitted: [permit] exhaust_rate_limit = true",
    ),
    "auth_url": (lambda t: t.auth_url, "auth_url is not given"),
    "app": (_app, "[application] client_id, client_secret and redirect_uri are not given"),
    "approval": (
        lambda t: _decision(t.application.approve, t),
        "no approval is possible: [application] username and password, or approve, are not given",
    ),
    "denial": (
        lambda t: _decision(t.application.deny, t),
        "no denial is possible: [application] username and password, or deny, are not given",
    ),
    "password": (
        lambda t: t.application.username and t.application.password,
        "[application] username and password are not given",
    ),
    "other_app": (
        lambda t: t.other_application.client_id and t.other_application.client_secret,
        "[other_application] is not given",
    ),
    "other_person": (
        lambda t: t.other_application.username and t.other_application.password,
        "[other_application] username and password are not given",
    ),
    "two_step": (lambda t: t.two_step.application_password, "[two_step] is not given"),
}

_CREDENTIALS: Final = {
    "owner": "access_token",
    "reader": "read_only_token",
    "auth_only": "auth_only_token",
    "no_auth": "no_auth_token",
    "expired": "expired_token",
    "other": "other_access_token",
    "private": "private_access_token",
    "disabled": "disabled_access_token",
    "api_key": "api_key",
}
"""The credentials that a probe can need, and their keys in the file."""


def lacking(needs: tuple[str, ...], target: Target, time: Time) -> str | None:
    """Returns the first reason why a probe cannot run, or None."""
    for need in needs:
        if need == "clock":
            if time.advance is None:
                return "the deployment's time cannot be moved"
        elif need in _CREDENTIALS:
            if need not in target.identities():
                return f"[credentials] {_CREDENTIALS[need]} is not given"
        else:
            is_set, reason = _TARGET_NEEDS[need]
            if not is_set(target):
                return reason
    return None
