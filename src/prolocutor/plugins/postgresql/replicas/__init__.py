"""Several processes on a store: who has which person, and the turns of the dead."""
