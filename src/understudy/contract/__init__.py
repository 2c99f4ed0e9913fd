"""Judges any deployment by the contract, and writes the requests that try it; never imports the mock."""
