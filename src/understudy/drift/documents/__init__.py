"""Compares OpenAPI documents by what they mean for clients, and never by their text."""
