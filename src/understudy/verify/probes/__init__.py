"""The probes, one module a part of the interface."""

from understudy.verify.probes import (
    authorization,
    avatars,
    hours,
    lookups,
    own_profile,
    qr_codes,
    token_requests,
    tokens,
    uploads,
)

MODULES = (
    lookups,
    qr_codes,
    own_profile,
    avatars,
    uploads,
    authorization,
    tokens,
    token_requests,
    hours,
)
