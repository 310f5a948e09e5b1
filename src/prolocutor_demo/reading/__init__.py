"""What several agents read with: the request, wording, numbers, dates, countries."""
