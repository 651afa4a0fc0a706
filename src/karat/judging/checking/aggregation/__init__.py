"""Ways to turn several answers about a pair into one, a file each; every one registers itself."""
