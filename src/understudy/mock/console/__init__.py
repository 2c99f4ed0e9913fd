"""The console: a page that shows what the mock saw, and changes what it does."""
