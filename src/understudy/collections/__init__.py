"""Gives the operations of any document the state that was inferred from it."""
