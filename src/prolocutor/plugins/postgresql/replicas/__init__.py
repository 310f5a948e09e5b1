"""Several processes on one store: who has which person, and the turns of the dead."""
