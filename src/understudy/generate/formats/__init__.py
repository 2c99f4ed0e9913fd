"""Writes cases as files for HTTP tools, with one module for each format."""
