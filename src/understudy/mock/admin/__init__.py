"""Serves the admin API: worlds, clock, faults, limits and the journal, as JSON over HTTP."""
