"""Connects the mock, deployments and verify; the only package that imports both sides.

Commands, the pytest plugin and the public API get typed values from here, and none of them imports
another. This module is empty, so that a caller of one part does not pay for importing the others.
"""
