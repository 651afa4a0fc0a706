"""Active testing (Nguyen, Ramanan, Fowlkes, ICML 2018): its published numbers beside what karat computes.

- Figures 5, 6, 8 and the supplement's figure 1 are curves without printed values. They are repeated on
  NUS-WIDE with what is public of it: `_active_nuswide.py`. The text prints a few numbers: rows with `paper`.
- "retrieval" is not in the paper: the same question for image-text retrieval, on three collections whose
  labels were vetted: `_active_retrieval.py`.
- Figure 7 needs COCO's minival with masks and the three systems' detections, which were not published.
- Figure 8's caption says 16% where the text and the introduction say 15%.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from _active_nuswide import figure_5, figure_6, figure_8, section_4_1, supplement_1, unanswered
from _active_retrieval import retrieval
from _harness import Records, main

TIMES = 50
NO_MASKS = (
    "needs COCO minival2014 with its masks, and the detections of three Mask R-CNN variants, "
    "which were not published"
)


def figure_7(data: Path | None) -> Records:
    """Return the published numbers on instance segmentation."""
    return unanswered("7", NO_MASKS)


def chosen_times() -> int:
    """Take --times N from the command line: how many repetitions."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--times", type=int, default=TIMES)
    asked, sys.argv[1:] = parser.parse_known_args()
    if asked.times < 1:
        parser.error(f"times is {asked.times}; give a whole number from 1")
    return int(asked.times)


if __name__ == "__main__":
    times = chosen_times()
    makers = {"4.1": section_4_1, "5": figure_5, "S1": supplement_1, "6": figure_6, "8": figure_8}
    about, _, rest = __doc__.partition("\n")
    main(
        {
            **{name: partial(make, times=times) for name, make in makers.items()},
            "7": figure_7,
            "retrieval": partial(retrieval, times=times),
        },
        f"{about} --times N is how many repetitions, {TIMES} by default.\n{rest}",
    )
