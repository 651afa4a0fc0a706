"""The dashboard: progress, quality, disagreements, and publication."""
