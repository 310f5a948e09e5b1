"""DREAM's formatters, built in: what a service is asked about a dialog, and its reply in order."""
