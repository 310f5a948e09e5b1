"""Read numbers, dates, times, units and wordings out of what people write; knows no dialog."""
