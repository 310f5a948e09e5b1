"""Composition of one reply from several agents' answers: clauses, and composing."""
