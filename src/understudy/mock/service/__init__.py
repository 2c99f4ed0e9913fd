"""The resource API of the avatar and profile service: handlers and policies."""
