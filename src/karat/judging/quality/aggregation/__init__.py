"""Aggregations, one per file; each registers itself with `karat.judging.quality.verdicts.AGGREGATIONS`."""
