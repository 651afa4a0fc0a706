"""How far people agree with each other, and scores with people."""
