"""The mutations: each module makes one kind of deviation from a plain request."""
