"""Reports of verify, drift, lint and generate: one content model, and one renderer a format."""
