"""Summarisers, one file each; `karat.models.load_summariser` finds them."""
