"""Generates edge cases of any document: each a request, what makes it unusual, and what must follow."""
