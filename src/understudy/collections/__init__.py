"""State for any document: inferred from it, served by the mock, judged by verify, put in sequences."""
