"""What a client's tests use: a mock that starts by itself, and a world for each test."""
