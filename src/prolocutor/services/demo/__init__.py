"""The agents of the demo assistant: each a small file that knows nothing of the others."""
