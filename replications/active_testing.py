"""Active testing (Nguyen, Ramanan, Fowlkes, ICML 2018): its published numbers beside what karat computes.

- Figures 5, 6, 8 and the supplement's figure 1 are curves without printed values. They are repeated on
  NUS-WIDE with what is public of it: `_active_nuswide.py`. The text prints a few numbers: rows with `paper`.
- "retrieval" is not in the paper: the same question for image-text retrieval, on three collections whose
  labels were vetted: `_active_retrieval.py`.
- Figures 3, 7 and 8 are instance segmentation. The detections of the paper's three systems were not
  published: `_active_segmentation.py` repeats the figures on the sample of COCO's evaluation code, with
  perturbed copies of its detections as further systems. Figure 8 is also repeated on NUS-WIDE.
- Figure 8's caption says 16% where the text and the introduction say 15%.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from _active_nuswide import figure_5, figure_6, figure_8, section_4_1, supplement_1
from _active_retrieval import retrieval
from _active_segmentation import figure_3, figure_7
from _active_segmentation import figure_8 as figure_8_of_detections
from _paper import Records, main

TIMES = 50


def both_figures_8(data: Path | None, times: int) -> Records:
    """Return figure 8 for the classifiers of NUS-WIDE, and for the detections of COCO's sample."""
    return figure_8(data, times) + figure_8_of_detections(data, times)


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
    makers = {
        "4.1": section_4_1,
        "5": figure_5,
        "S1": supplement_1,
        "6": figure_6,
        "7": figure_7,
        "8": both_figures_8,
    }
    about, _, rest = __doc__.partition("\n")
    main(
        {
            **{name: partial(make, times=times) for name, make in makers.items()},
            "3": figure_3,
            "retrieval": partial(retrieval, times=times),
        },
        f"{about} --times N is how many repetitions, {TIMES} by default.\n{rest}",
    )
