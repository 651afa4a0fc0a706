"""Estimators: one registered file each."""
