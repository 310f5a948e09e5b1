"""DREAM's Python connectors, built in: skills and selectors that need no service elsewhere."""
