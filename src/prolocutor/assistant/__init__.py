"""One assistant out of many agents: turns in order, durable, and their replies to whoever waits."""
