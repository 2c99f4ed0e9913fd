"""Names the rules and the operations of the avatar and profile service, without any numbers."""
