"""Writes cases and a mock's responses as files of other tools; makes Hypothesis strategies."""
