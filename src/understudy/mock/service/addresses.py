"""Where the things in an answer lie: the one place that builds their addresses."""

from functools import lru_cache
from urllib.parse import quote


def profile_url(site_url: str, slug: str) -> str:
    """Returns the address of a person's page."""
    return f"{site_url}/{slug}"


def avatar_url(site_url: str, identifier: str) -> str:
    """Returns the address of a picture: an e-mail hash's avatar, or one image by its id."""
    return f"{site_url}/avatar/{identifier}"


def image_url(site_url: str, name: str) -> str:
    """Returns the address of a fixture image."""
    return f"{site_url}/image/{_quoted(name)}"


def icon_url(site_url: str, service_type: str) -> str:
    """Returns the address of a service's icon."""
    return f"{site_url}/icons/{_quoted(service_type)}.svg"


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    return quote(text)
