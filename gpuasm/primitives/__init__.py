"""Array algorithms: hash indices, list ranking, spanning forests, random numbers."""
