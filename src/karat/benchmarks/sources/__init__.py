"""One file per source of benchmarks; each registers itself, so that adding one changes nothing else.

`karat.benchmarks.registry` imports them all when a benchmark is first looked up by name.
"""
