"""Other assistants of Prolocutor as services."""
