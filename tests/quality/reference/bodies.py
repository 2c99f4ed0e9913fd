"""JSON that callers send: an object of known members that are strings, or a refusal."""

from collections.abc import Iterable

from flask import request
from tests.quality.reference.refusals import refuse


def strings(allowed: Iterable[str]) -> dict[str, str]:
    """Reads the members of the body.

    Raises:
        Refused: The body is no object, or has a member that is not allowed or no string.
    """
    try:
        body = request.get_json()
    except RecursionError:
        refuse("The body is nested too deeply.")
    if not isinstance(body, dict):
        refuse("The body must be a JSON object.")
    names = sorted(allowed)
    for name, value in body.items():
        if name not in names:
            refuse(f"{name} cannot be set here; what can: {', '.join(names)}.")
        if not isinstance(value, str):
            refuse(f"{name} must be a string.")
    return body
