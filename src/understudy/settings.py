"""Settings of a run: read once, then never changed."""
