"""The engine: a plan made ready to run, and turns through it."""
