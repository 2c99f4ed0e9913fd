"""The understudy command."""
