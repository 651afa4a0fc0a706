"""Packs of pairs with hidden known ones, and simulated people who answer them."""
