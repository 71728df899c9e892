"""The nearest units of rows, by distances that are defined to the bit."""
