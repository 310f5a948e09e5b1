"""The engine: the pipeline as data, and one turn through it."""
