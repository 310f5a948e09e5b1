"""The door that speaks the wire of ParlAI's websocket chat service."""
