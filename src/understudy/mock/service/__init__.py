"""Implements the resource API of the avatar and profile service: its handlers and policies."""
