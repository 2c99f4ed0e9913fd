"""JSON that callers send: an object of known members that are strings, or a refusal."""

from collections.abc import Iterable

from flask import request
from tests.proofs.reference.refusals import refuse


def strings(allowed: Iterable[str], *, is_open: bool = False) -> dict[str, str]:
    """Reads the members of the body.

    Args:
        allowed: Names of members.
        is_open: Whether other members are dropped and not refused.

    Raises:
        Refused: The body is not an object, or has a member that is not allowed or no string.
    """
    try:
        body = request.get_json()
    except RecursionError:
        refuse("The body is nested too deeply.")
    if not isinstance(body, dict):
        refuse("The body must be a JSON object.")
    names = sorted(allowed)
    if is_open:
        body = {name: value for name, value in body.items() if name in names}
    for name, value in body.items():
        if name not in names:
            message = f"{name} cannot be set here; what can: {', '.join(names)}."
            refuse(message, switch="unknown-member-error")
        if not isinstance(value, str):
            refuse(f"{name} must be a string.", switch="invalid-member-error")
    return body
