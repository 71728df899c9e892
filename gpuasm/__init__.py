"""Genome assembly from short reads on CPUs and GPUs, to the same bytes."""
