"""The contract as a pytest suite: ``pytest --pyargs understudy.testing.contract``."""
