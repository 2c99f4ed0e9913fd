"""Lints documents: losses of the reader, and contradictions of what it read."""
