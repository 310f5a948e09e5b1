"""Parts: what several connectors are made of; no connector lives here."""
