"""understudy: a spec-driven mock of the avatar and profile service, and its contract tests."""
