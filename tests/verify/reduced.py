"""A target that gives nothing but what some probe says that it needs."""

from collections.abc import Collection

from msgspec.structs import asdict, replace

from understudy.api.bundled_target import TARGET
from understudy.verify.target import CREDENTIALS, Known, Target, TargetApplication

PEOPLE = {"emails": {"hashes", "two_emails"}, "other_emails": {"other_hashes"}}
"""Needs that are met by a member of ``[known]`` with another name."""

APPLICATIONS = {
    "application": {"app", "approval", "denial", "password"},
    "other_application": {"other_app", "other_person"},
    "two_step": {"two_step"},
}


def reduced(needs: Collection[str]) -> Target:
    """Returns the bundled target with every permission, and nothing else but what some needs name."""
    unknown = {
        name: getattr(Known(), name)
        for name in asdict(TARGET.known)
        if not {name, *PEOPLE.get(name, ())} & set(needs)
    }
    tokens = {key: None for name, key in CREDENTIALS.items() if name not in needs}
    apps = {name: TargetApplication() for name, own in APPLICATIONS.items() if not own & set(needs)}
    return replace(
        TARGET,
        known=replace(TARGET.known, **unknown),
        credentials=replace(TARGET.credentials, **tokens),
        auth_url=TARGET.auth_url if "auth_url" in needs else None,
        **apps,
    )
