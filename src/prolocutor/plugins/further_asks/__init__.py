"""Further kinds of asks: contacts, phone numbers, addresses, pictures, any typed value."""
