"""The chat page at `/`: its static files, uploaded pictures, and how an answer came about."""
