"""Losses, each of which registers itself in `karat.train.LOSSES`."""
