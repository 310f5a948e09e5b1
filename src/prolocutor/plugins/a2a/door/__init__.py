"""The door for A2A clients."""
