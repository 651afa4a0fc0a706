"""``karat captions``: how well captions fit images, judged by the captions that the images have."""

from karat.cli.captions import agree, corpus, curve, filter, pairs, parse, score, table
from karat.cli.command import group

app = group(
    "Score captions against the captions that images have.",
    score, table, pairs, corpus, parse, filter, curve, agree,
)  # fmt: skip
