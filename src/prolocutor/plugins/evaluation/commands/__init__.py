"""The commands of evaluation and data."""
