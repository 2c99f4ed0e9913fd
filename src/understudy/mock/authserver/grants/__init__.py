"""The grants, one module each (RFC 6749, 1.3)."""
