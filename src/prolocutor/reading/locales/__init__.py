"""Locales: one folder a language, with the words that are understood and the sentences said."""
