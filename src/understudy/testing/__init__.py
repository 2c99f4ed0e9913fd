"""Provides the pytest plugin: a mock that starts by itself, a world for each test, the contract suite."""
