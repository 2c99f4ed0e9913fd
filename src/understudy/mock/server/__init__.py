"""Serves any OpenAPI document, and knows nothing of the service."""
