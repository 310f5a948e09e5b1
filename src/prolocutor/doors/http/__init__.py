"""The door that speaks as DeepPavlov Agent's HTTP API does, with better statuses."""
