"""Implements the authorization server (interface, Authentication)."""
