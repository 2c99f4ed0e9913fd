"""Builds the URLs that responses contain."""

from functools import lru_cache
from urllib.parse import quote


def profile_url(site_url: str, slug: str) -> str:
    """Returns the URL of a person's profile page."""
    return f"{site_url}/{slug}"


def avatar_url(site_url: str, identifier: str) -> str:
    """Returns the URL of an avatar picture, by e-mail hash or by image_id."""
    return f"{site_url}/avatar/{identifier}"


@lru_cache(maxsize=4096)
def image_url(site_url: str, name: str) -> str:
    """Returns the URL of a fixture image."""
    return f"{site_url}/image/{quote(name)}"


@lru_cache(maxsize=4096)
def icon_url(site_url: str, service_type: str) -> str:
    """Returns the URL of the icon of a service."""
    return f"{site_url}/icons/{quote(service_type)}.svg"
