"""Runs verify on the small service or a mutant of it."""

from datetime import timedelta
from functools import cache

import httpx
from tests.collections.judging.service import BASE, NOTES, OWNER, READER, Service

from understudy.openapi.loader import load
from understudy.verify.clock import machine_clock
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.findings import Outcome
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.target import Credentials, Target

read = cache(load)
"""Loads a document once: every test judges by one of two."""

TOKENS = Credentials(access_token=OWNER, read_only_token=READER, other_access_token="token-of-tom")
SCOPES = ("notes:read",)


def target(**keys) -> Target:
    """Returns the small service as a target."""
    return Target(
        **{
            "base_url": BASE,
            "mode": "own",
            "credentials": TOKENS,
            "read_only_scopes": SCOPES,
            **keys,
        }
    )


def verified(
    service: Service, document=NOTES, judged=None, *, rules=(), phases=(), requests=None
) -> Outcome:
    """Returns what verify finds at a service."""
    options = RunOptions(rules=tuple(rules), phases=phases)
    return carry_out(deployed(service, document, judged, requests), options)


def deployed(
    service: Service, document=NOTES, judged=None, requests=None, journal=None
) -> Deployment:
    """Returns a service as a deployment without a socket."""
    return Deployment(
        target=judged or target(),
        transport=httpx.MockTransport(service.respond),
        time=machine_clock(),
        allowance=Allowance(requests=requests, pause=timedelta(0)),
        document=read(document),
        journal=journal,
    )
