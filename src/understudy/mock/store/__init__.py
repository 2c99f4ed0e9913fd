"""Keeps worlds: the records that a world holds, and the database that persists them."""
