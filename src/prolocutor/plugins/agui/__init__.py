"""The door for AG-UI clients: a run is a turn, shown while it runs."""
