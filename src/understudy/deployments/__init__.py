"""Describes the deployment that is judged: target, transport, clock, permits and allowance."""
