"""Controls that ignore the image: how plausible is each caption by itself?

Where such a control chooses right more often than chance, the captions give part of the answer away, and a
model can score without looking (Hsieh et al. 2023). A control is a file of scores, examples by captions, or
registered by name: ``length`` prefers the caption with fewer words, ``ngram:captions.txt`` the one with the
higher mean log probability per word under a word model of the captions in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Registry, import_later
from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.runs import ChoiceRun, load_choices

TextScorer = Callable[[Sequence[str], str], np.ndarray]
"""Returns a score per caption; takes the captions and what follows the colon of the name."""
TEXT_ONLY: Registry[TextScorer] = Registry(
    "text-only control", fill=lambda: import_later("text-only"), group="karat.text_only"
)
NONE = "none"


def length(texts: Sequence[str], argument: str) -> np.ndarray:
    """Return minus the number of words of each caption.

    >>> length(["a dog", "a dog on a mat"], "").tolist()
    [-2.0, -5.0]
    """
    if argument:
        raise InputError(f"length takes no {argument!r}", fix="write length")
    return -np.array([len(text.split()) for text in texts], float)


TEXT_ONLY.add("length", length)


def control_of(text_only: Any, benchmark: Benchmark) -> ChoiceRun | None:
    """Return the control as a run that scores every image of an example the same; None for none.

    Parameters
    ----------
    text_only
        A name such as "length" or "ngram:captions.txt", a file or an array of examples by captions, or
        "none". None is "length" where every example has one image, and no control where one has several: of
        those, a score that ignores the image cannot win a text score.
    benchmark
        One of choices.
    """
    choices = benchmark.choices
    assert choices is not None
    if text_only is None:
        text_only = "length" if choices.shape[1] == 1 else NONE
    if isinstance(text_only, str) and text_only == NONE:
        return None
    kind, _, argument = text_only.partition(":") if isinstance(text_only, str) else ("", "", "")
    if kind in TEXT_ONLY:
        scores = TEXT_ONLY[kind](benchmark.needed_texts, argument)
        table = np.where(choices.captions >= 0, scores[choices.captions], 0.0)
        name = kind
    else:
        if isinstance(text_only, str | Path) and not Path(text_only).exists():
            raise InputError(
                f"there is no file {str(text_only)!r}, and no text-only control of this name",
                fix=f"give {', '.join(TEXT_ONLY)} or none, or a file of examples by captions",
            )
        table = control_table(text_only, benchmark)
        name = Path(text_only).stem if isinstance(text_only, str | Path) else "control"
    scores = np.repeat(table[:, None, :], choices.shape[1], axis=1)
    return ChoiceRun(f"{name} (text only)", scores)


def control_table(source: Any, benchmark: Benchmark) -> np.ndarray:
    """Return scores of examples by captions from a file or an array."""
    choices = benchmark.choices
    assert choices is not None
    # As if each example had its first image alone.
    one = replace(choices, images=choices.images[:, :1], correct=choices.correct[:, :1])
    source = Path(source) if isinstance(source, str) else source
    return load_choices([source], replace(benchmark, choices=one))[0].scores[:, 0]
