"""ParlAI's medium: messages, formats, teachers, worlds and metrics, without ParlAI."""
