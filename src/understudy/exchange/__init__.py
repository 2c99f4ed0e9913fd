"""Holds what was sent and received, one record of it, and each codec once."""
