"""Reports of verify, drift, lint and generate: one content model, and a renderer for each format."""
