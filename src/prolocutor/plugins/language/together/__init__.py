"""What makes one reply of several agents' answers: clauses, and composing."""
