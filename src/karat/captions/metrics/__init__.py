"""The metrics, one file each; each registers itself."""
