"""Shows the web pages: profiles, sign-in, consent and the developer dashboard (a Flask application)."""
