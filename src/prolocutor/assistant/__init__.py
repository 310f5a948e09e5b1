"""One assistant out of many agents: turns in order, durable, one at a time for each person."""
