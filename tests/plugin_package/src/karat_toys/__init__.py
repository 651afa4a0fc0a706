"""A package that adds one thing of each kind to karat."""
