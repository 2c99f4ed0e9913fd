"""``python -m tests.proofs.reference``: serves the reference until it is told to stop."""

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from tests.proofs.reference import people
from tests.proofs.reference.faults.every import EVERY
from tests.proofs.reference.parts import SOUND, Parts
from tests.proofs.reference.records import Account, Application
from tests.proofs.reference.service import Addresses, Options
from tests.proofs.reference.serving import Ports, served


def main() -> None:
    """Prints one JSON line with addresses and credentials, then serves."""
    given = _arguments()
    ports = Ports(given.port, given.auth_port)
    options = Options(
        approve=given.approve,
        anonymous_limit=given.anonymous_limit,
        token_limit=given.token_limit,
        choices=dict(given.choose),
    )
    if given.approve not in {None, *(account.username for account in people.ACCOUNTS)}:
        sys.exit(f"--approve {given.approve}: there is no such username")
    ending = {signal.SIGINT, signal.SIGTERM}
    # the servers' threads inherit this mask, so that the signal waits for sigwait
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    try:
        with served(ports, options, parts=given.fault) as addresses:
            line = json.dumps(told(addresses))
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
            if given.ready_file is not None:
                _write_whole(given.ready_file, line)
            signal.sigwait(ending)
    except OSError as error:
        sys.exit(f"ports {given.port} and {given.auth_port}: {error.strerror}")


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


def _write_whole(path: Path, line: str) -> None:
    """Writes a file that nobody finds half-written."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(f"{line}\n")
    draft.replace(path)


def _fault(name: str) -> Parts:
    """Returns the parts of a reference with a fault."""
    if name not in EVERY:
        msg = f"there is no fault {name}; there are {', '.join(EVERY)}"
        raise argparse.ArgumentTypeError(msg)
    return EVERY[name].parts


def _choice(text: str) -> tuple[str, str]:
    name, _, option = text.partition("=")
    return name, option


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.reference", description=__doc__)
    parser.add_argument("--port", type=int, default=9080, help="of the resource API")
    parser.add_argument("--auth-port", type=int, default=9081, help="of the authorization server")
    parser.add_argument("--ready-file", type=Path, help="written when both can be reached")
    parser.add_argument("--approve", metavar="USERNAME", help="grant without a page, as them")
    parser.add_argument("--anonymous-limit", type=int, default=100, help="requests an hour")
    parser.add_argument("--token-limit", type=int, default=1000, help="requests an hour")
    parser.add_argument("--fault", type=_fault, default=SOUND, metavar="NAME", help="break it so")
    parser.add_argument(
        "--choose",
        type=_choice,
        action="append",
        default=[],
        metavar="NAME=OPTION",
        help="an option of a switch of rules.yaml",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
