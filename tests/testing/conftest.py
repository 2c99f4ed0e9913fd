"""A mock in a process of its own, for the plugin to find."""

from tests.cli.conftest import serve

__all__ = ["serve"]
