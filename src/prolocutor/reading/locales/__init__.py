"""Locales: a folder for each language, with the words understood and the sentences said."""
