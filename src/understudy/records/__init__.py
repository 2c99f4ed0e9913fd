"""What a world holds, and how fixtures become it."""
