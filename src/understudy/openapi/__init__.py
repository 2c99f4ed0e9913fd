"""Reads OpenAPI documents, and knows nothing of serving or judging."""
