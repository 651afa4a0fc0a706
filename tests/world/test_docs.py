"""The page on the world says what is so."""

import re
import subprocess
import sys
from pathlib import Path

from karat.world import SYSTEMS, make_world
from karat.world.vocabulary import CATEGORIES, KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "world.md").read_text(encoding="utf-8")


def test_its_code_runs():
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL).group(1)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "colour-blind" in done.stdout


def test_its_figures_are_current():
    true_of = make_world(images=1000, captions=5, seed=7).positives[1]
    assert f"true of {true_of.mean():.1f} pictures on average" in PAGE
    assert f"{(true_of == 1).mean():.0%} only of their own" in PAGE
    assert f"{len(KINDS)} kinds of things in {len(CATEGORIES)} categories" in PAGE
    for system in SYSTEMS:
        blind = f" {', '.join(system.blind)}" if system.blind else ""
        assert f"| {system.name} | {system.strength:g} |{blind} | {system.instance:g} |" in PAGE
