"""Makes what can be sent to an operation, and says what it must get: one catalogue for generate and verify."""
