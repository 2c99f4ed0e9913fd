"""Edge cases of a document's operations: each a request, what makes it nasty, and what must follow."""
