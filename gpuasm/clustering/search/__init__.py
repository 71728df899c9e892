"""The nearest units of rows: a distance defined to the bit, and every way to find the least of it."""
