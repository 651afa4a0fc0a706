"""Training data and training loops of the English parser."""
