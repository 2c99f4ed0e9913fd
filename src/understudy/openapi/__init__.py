"""Reads OpenAPI documents; independent of the mock and of verify."""
