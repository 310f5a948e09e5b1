"""Effects: the actions of acting skills, kept in a ledger, approved, and never started twice."""
