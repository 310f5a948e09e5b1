"""Evaluation: an assistant or an agent is measured on data, and runs are compared and read."""
