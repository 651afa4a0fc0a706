"""Losses, each of which registers itself in `karat.training.LOSSES`."""
