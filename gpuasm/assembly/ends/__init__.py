"""Dead ends: their overlaps, gaps between them, and their extension."""
