"""The command line: words typed by a person become settings, assistants and what they say."""
