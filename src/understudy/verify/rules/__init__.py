"""Checks, probes and readings of switches; one module for each section of the interface.

Importing the package registers all that the sections define.
"""

from understudy.verify.rules import (  # noqa: F401 - a section registers itself
    authorize,
    avatar_edits,
    avatar_lists,
    avatar_uploads,
    bearer,
    code_grant,
    conditional_reads,
    consent,
    definition,
    equivalent_requests,
    errors,
    lookups,
    own_profile,
    password_grant,
    profile_edits,
    profiles,
    qr_codes,
    rate_limits,
    scopes,
    token_requests,
    tokens,
    unchanged,
    visibility,
)
