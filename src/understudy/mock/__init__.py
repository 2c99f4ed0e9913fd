"""Implements the mock: the engine that serves documents, the store, and the service itself."""
