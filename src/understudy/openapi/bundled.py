"""Locates the bundled documents and fixtures, in a checkout and in an installation."""

from pathlib import Path

from understudy.errors import StartupError

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE.parents[1], _PACKAGE / "bundled")
"""Directories searched for the bundled files: the repository's root, and the wheel's."""


def openapi_directory() -> Path:
    """Returns the directory of the OpenAPI documents and of the rules."""
    return _directory("openapi", "service.yaml")


def fixtures_directory() -> Path:
    """Returns the directory of people, tokens, applications and images."""
    return _directory("fixtures", "tokens.yaml")


def _directory(name: str, witness: str) -> Path:
    for place in _PLACES:
        if (place / name / witness).is_file():
            return place / name
    tried = " and ".join(str(place / name) for place in _PLACES)
    msg = f"There is no {witness} in {tried}; install understudy again, or work in a checkout."
    raise StartupError(msg)
