"""What every store keeps, as tests: one file for each promise of `contracts/store.py`."""
