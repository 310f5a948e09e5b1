"""Further kinds of asks: numbers, days, times, phone numbers, addresses, pictures, any value."""
