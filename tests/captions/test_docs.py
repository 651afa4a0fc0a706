"""The pages on caption metrics and on scores by meaning say what is so."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

from karat.captions.metric import CAPTION_METRICS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "caption-metrics.md"


def test_its_code_runs():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testfile(str(PAGE), module_relative=False, optionflags=flags).failed == 0


def test_it_names_metrics_with_their_highest_value():
    text = PAGE.read_text(encoding="utf-8").replace("`bleu-1` … `bleu-4`", "`bleu-4`")
    listed = dict(re.findall(r"^\| `([\w-]+)` \|.*?\| (\d+) \|", text, re.MULTILINE))
    known = {metric.name: f"{metric.highest:g}" for metric in CAPTION_METRICS.values()}
    assert len(listed) >= 8
    assert listed.items() <= known.items()


def test_its_tables_are_current():
    done = subprocess.run([sys.executable, ROOT / "examples" / "meaning.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs" / "meaning.md").read_text(encoding="utf-8")
    for table in done.stdout.strip().split("\n\n"):
        assert table in page
