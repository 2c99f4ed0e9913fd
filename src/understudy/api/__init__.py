"""Puts mock, deployments and judge together; the one package that knows both sides.

Commands, the pytest plugin and the public API get typed values from here, and none of them imports
another. This module is empty, so that a caller of one part does not pay for importing the others.
"""
