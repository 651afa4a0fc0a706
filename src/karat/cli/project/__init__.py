"""``karat project``: what is judged, by whom, and what becomes of it."""

from karat.cli.command import group
from karat.cli.project import (
    backup,
    bias,
    calibrate,
    estimate,
    export,
    locate,
    next,
    pool,
    publish,
    quality,
    restore,
    rules,
    tasks,
)

app = group(
    "Judge what models suggest, and publish corrected labels.\n\n"
    "First pool, then tasks; annotators answer in the pages of karat serve.",
    pool, tasks, next, estimate, export, quality, rules, calibrate, publish, bias, locate, backup, restore,
)  # fmt: skip
