"""Tells from exchanges how a deployment reads what the interface leaves open."""
