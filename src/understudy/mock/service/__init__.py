"""The avatar and profile service: handlers of the resource API."""
