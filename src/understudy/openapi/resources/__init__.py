"""Infers from a document alone which collections, items and actions its operations are about."""
