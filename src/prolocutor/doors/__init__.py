"""Front doors: one folder or file each, none of which knows another."""
