"""The names of the avatar and profile service: its rules, its operations. Names only, no numbers."""
