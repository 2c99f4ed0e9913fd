"""The mock's HTTP engine: serves any OpenAPI document, without knowledge of the bundled service."""
