"""What a customer of the reference knows of it, as target.toml has it."""

from tests.proofs.reference import people
from tests.proofs.reference.records import Account, Application
from tests.proofs.reference.service import Addresses


def told(addresses: Addresses) -> dict[str, dict[str, object] | str]:
    """Returns what a client of this deployment must know."""
    owner, other, two_step = people.ISOLDE, people.BRAM, people.NOOR
    return {
        "base_url": addresses.base_url,
        "auth_url": addresses.auth_url,
        "credentials": {
            "access_token": people.FULL_TOKEN.value,
            "read_only_token": people.READ_ONLY_TOKEN.value,
            "auth_only_token": people.AUTH_ONLY_TOKEN.value,
            "expired_token": people.EXPIRED_TOKEN.value,
            "no_auth_token": people.NO_AUTH_TOKEN.value,
            "other_access_token": people.OTHER_TOKEN.value,
            "private_access_token": people.PRIVATE_TOKEN.value,
            "disabled_access_token": people.DISABLED_TOKEN.value,
            "api_key": people.API_KEY.value,
        },
        "application": {**_application(people.BEACON, owner), "name": people.BEACON.name},
        "other_application": _application(people.PEAT, other),
        "two_step": {
            **_application(people.KILN, two_step),
            "application_password": two_step.application_password,
        },
        "known": {
            "slug": owner.slug,
            "emails": owner.emails,
            "other_slug": other.slug,
            "other_emails": other.emails,
            "private_slug": people.TAMSIN.slug,
            "hidden_contact_slug": two_step.slug,
        },
    }


def _application(application: Application, owner: Account) -> dict[str, object]:
    return {
        "client_id": application.client_id,
        "client_secret": application.client_secret,
        "redirect_uri": application.redirect_uris[0],
        "username": owner.username,
        "password": owner.password,
    }
