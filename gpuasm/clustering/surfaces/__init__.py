"""Surfaces of a trained map: distances, densities, and clusters from them."""
