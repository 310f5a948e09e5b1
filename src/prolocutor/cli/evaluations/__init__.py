"""The parts of `prolocutor evaluate`, a command each."""
