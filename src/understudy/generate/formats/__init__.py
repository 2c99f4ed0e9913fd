"""Writes cases as files for the tools that people have open, one module a format."""
