"""``karat world``: pictures and captions whose right answers are known."""

from karat.cli.command import group
from karat.cli.world import make

app = group("Make pictures and captions whose right answers are known.", make)
