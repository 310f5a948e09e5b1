"""Services that answer lines of JSON: programs, and WebSockets."""
