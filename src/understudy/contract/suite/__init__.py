"""The contract as a pytest suite: ``pytest --pyargs understudy.contract.suite``."""
