"""The page on scores by meaning shows what the example prints."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_its_tables_are_current():
    done = subprocess.run([sys.executable, ROOT / "examples" / "meaning.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs" / "meaning.md").read_text(encoding="utf-8")
    for table in done.stdout.strip().split("\n\n"):
        assert table in page
