"""What people say to ask for a thing, by examples; words that no skill answers are read by them."""
