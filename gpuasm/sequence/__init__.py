"""Bases and reads as arrays; simulated genomes and reads."""
