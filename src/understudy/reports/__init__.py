"""Writes what verify, drift and lint found: one content, and each format once."""
