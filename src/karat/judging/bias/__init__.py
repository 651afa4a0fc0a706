"""How the models of a pool bias its labels."""
