"""Language: follow-ups, several questions at once, and careful answers, for any pipeline."""
