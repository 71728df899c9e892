"""What a trained map looks like: distances, densities, and the clusters they leave."""
