"""The door of operators."""
