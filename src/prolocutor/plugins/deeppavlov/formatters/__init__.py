"""DREAM's formatters, built in: requests about a dialog, and the form of replies."""
