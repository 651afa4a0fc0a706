"""The ways to name a model, one file each; `karat.load_model` finds them."""
