"""What is judged: a deployment's target file, transport, clock, permits and request allowance."""
