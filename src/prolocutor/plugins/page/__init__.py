"""The chat page at `/`: its files, uploaded pictures, and explanations of replies."""
