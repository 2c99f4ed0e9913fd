"""The OAuth 2.0 authorization server (interface, Authentication)."""
