"""How the tables came to be, a step each; `karat.judging.store.migrating` runs them."""
