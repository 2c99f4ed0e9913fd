"""Defines the headers of every page, and of the redirects between pages."""

from typing import Final

from understudy.errors import Headers

_POLICY: Final = (
    "default-src 'none'; img-src 'self'; script-src 'self'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; "  # the backdrop of a profile
    "base-uri 'none'; form-action 'self'{onward}; frame-ancestors 'none'"
)


def content_policy(onward: str = "") -> str:
    """Returns the Content-Security-Policy of a page.

    Args:
        onward: The source that the page's forms are redirected to, beside the page's own.
    """
    return _POLICY.format(onward=f" {onward}" if onward else "")


PAGE_HEADERS: Final[Headers] = (
    ("content-security-policy", content_policy()),
    ("cache-control", "no-store"),  # the world may change between two requests
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
)
