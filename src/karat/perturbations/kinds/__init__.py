"""Perturbations: ways to change a caption, one registered file each."""
