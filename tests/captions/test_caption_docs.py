"""The page on caption metrics says what is so."""

import doctest
import re
from pathlib import Path

from karat.captions.metric import CAPTION_METRICS

PAGE = Path(__file__).parents[2] / "docs" / "caption-metrics.md"


def test_its_code_runs():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testfile(str(PAGE), module_relative=False, optionflags=flags).failed == 0


def test_it_names_every_metric_with_its_highest_value():
    text = PAGE.read_text(encoding="utf-8").replace("`bleu-1` … `bleu-4`", "`bleu-4`")
    listed = dict(re.findall(r"^\| `([\w-]+)` \|.*?\| (\d+) \|", text, re.MULTILINE))
    known = {metric.name: f"{metric.highest:g}" for metric in CAPTION_METRICS.values()}
    assert listed == {name: top for name, top in known.items() if name not in ("bleu-1", "bleu-2", "bleu-3")}
