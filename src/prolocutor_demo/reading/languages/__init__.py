"""Languages other than English: what is heard becomes English, what is said is translated."""
