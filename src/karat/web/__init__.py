"""The web: the page where people judge, the dashboard, and accounts; `karat serve` starts it."""
