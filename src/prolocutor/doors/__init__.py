"""Front doors: each a folder or file that knows no other door."""
