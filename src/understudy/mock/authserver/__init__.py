"""The fake authorization server: what the interface's Authentication chapter describes."""
