"""The scopes of the interface (interface, Authorization request)."""

from typing import Final

AUTH: Final = "auth"
"""Required for any endpoint."""

READ_PROFILE: Final = "avatar-profile:read"
"""Reads avatars and profile information."""

MANAGE_PROFILE: Final = "avatar-profile:manage"
"""Edits avatars and profile information."""

SCOPES: Final = (AUTH, READ_PROFILE, MANAGE_PROFILE)
"""Every scope, in the interface's order."""
