"""DeepPavlov Agent's wire and pipelines."""
