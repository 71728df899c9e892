"""Epochs of training: batches and single rows, neighbourhoods, and what changes from epoch to epoch."""
