"""What a person sees: a Flask application."""
