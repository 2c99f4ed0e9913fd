"""The catalogue of test cases: requests to an operation with expected responses, for any document."""
