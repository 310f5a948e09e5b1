"""The nouns: dialogs, profiles, utterances, messages and requests, as data."""
