"""Writes sequences: requests that create an item, use it and delete it, as a document implies."""
