"""Lets agents use the mock and the contract by the Model Context Protocol (``understudy mcp``)."""
