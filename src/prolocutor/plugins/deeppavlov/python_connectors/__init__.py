"""DREAM's Python connectors, built in: skills and selectors without services of their own."""
