"""``karat board``: scores of models that somebody published."""

from karat.cli.board import correlate, report
from karat.cli.command import group

app = group("Show and compare published scores of models.", report, correlate)
