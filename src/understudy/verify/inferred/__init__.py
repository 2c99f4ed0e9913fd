"""The rules of state that is inferred from the document of another service, and what judges them."""
