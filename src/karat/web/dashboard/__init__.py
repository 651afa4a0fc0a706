"""The dashboard: how far judging is, what the answers are worth, what is left to decide, and publishing."""
