"""Slow, plain-Python versions of the algorithms, written to be obviously right: the truth of the tests."""
