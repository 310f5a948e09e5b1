"""What `bench/turns.py` is made of."""
