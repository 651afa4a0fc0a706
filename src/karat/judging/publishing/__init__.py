"""From answers to a published benchmark."""
