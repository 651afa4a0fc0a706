"""Agreement of raters with each other, and of scores with raters."""
