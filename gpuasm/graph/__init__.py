"""Directed graphs: their class, how they are built, generated and drawn, and Euler circuits."""
