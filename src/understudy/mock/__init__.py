"""The mock: the engine that serves documents, what worlds keep, and the service it stands in for."""
