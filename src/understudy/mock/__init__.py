"""The mock: the engine that serves documents, the store of worlds, and the bundled service."""
