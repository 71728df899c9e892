"""Contigs checked and corrected by the reads aligned to them."""
