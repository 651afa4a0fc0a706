"""What the pool's systems did to the labels."""
