"""The console: a page that shows the mock's requests and changes its behaviour."""
