"""Judges any deployment of the service by its contract; knows nothing of the mock."""
