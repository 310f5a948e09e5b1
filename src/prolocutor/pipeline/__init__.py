"""The engine: a plan made ready to run, and one turn through it."""
