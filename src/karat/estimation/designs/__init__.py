"""Sampling designs: one file each."""
