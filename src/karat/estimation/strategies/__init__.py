"""Vetting strategies: one registered file each."""
