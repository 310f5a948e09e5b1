"""Effects: what skills do that act, kept in a ledger, approved, and never started twice."""
