"""The state of any document, whole: inferred, served, judged, and sequences drawn from it."""
