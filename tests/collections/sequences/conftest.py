"""The tools that sequences are run by."""

from tests.generate.formats.conftest import tool

__all__ = ["tool"]
