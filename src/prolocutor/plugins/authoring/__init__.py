"""What people write an assistant by: its file, what is behind an address, reference tables."""
