"""What a wrong name may mean: the word in a group, the word of another tool, or a name spelt alike."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS = {
    "active": "next",
    "agreement": "agree",
    "alpha": "agree",
    "annotate": "serve",
    "answers": "export",
    "app": "serve",
    "budget": "plan",
    "check": "inspect",
    "ci": "evaluate",
    "cider": "captions",
    "confidence": "evaluate",
    "config": "settings",
    "configure": "settings",
    "dashboard": "serve",
    "dataset": "benchmarks",
    "datasets": "benchmarks",
    "deduplicate": "inspect",
    "diff": "compare",
    "duplicates": "inspect",
    "embed": "encode",
    "ensemble": "fuse",
    "errors": "explain",
    "failures": "explain",
    "kappa": "agree",
    "kcca": "fit",
    "label": "serve",
    "leaderboard": "board",
    "lint": "inspect",
    "load": "load_run",
    "load_data": "load_benchmark",
    "load_dataset": "load_benchmark",
    "map": "measures",
    "merge": "fuse",
    "metric": "measures",
    "metrics": "measures",
    "model": "fit",
    "mrr": "measures",
    "ndcg": "measures",
    "normalize": "normalise",
    "page": "report",
    "paraphrase": "perturb",
    "plot": "report",
    "power": "plan",
    "precision": "measures",
    "predict": "encode",
    "rank": "evaluate",
    "read": "load_run",
    "recall": "measures",
    "rerank": "normalise",
    "retrieve": "search",
    "run": "load_run",
    "sample": "next",
    "score": "evaluate",
    "significance": "compare",
    "slices": "explain",
    "statistics": "compare",
    "synthetic": "world",
    "test": "compare",
    "true_score": "estimate",
    "ui": "serve",
    "validate": "inspect",
    "vet": "next",
    "web": "serve",
    "why": "explain",
}
"""Words of other tools and of everyday speech, and what they are called here."""
MOST = 3


def did_you_mean(word: str, names: Iterable[str], separator: str = ".", shown: str = "{}") -> str:
    """Return as part of a sentence which of some names a wrong word may mean, or ""; see `meant`.

    >>> did_you_mean("eval", ["evaluate", "compare"], shown="karat.{}")
    'did you mean karat.evaluate?'
    """
    likely = [shown.format(name) for name in meant(word, names, separator)]
    return f"did you mean {' or '.join(likely)}?" if likely else ""


def meant(word: str, names: Iterable[str], separator: str = ".") -> list[str]:
    """Return which of some names a wrong word may mean, the likeliest first; nothing where none is like it.

    Parameters
    ----------
    word
        What was written.
    names
        The names that there are; those in a group with its name before them.
    separator
        What stands between a group and a name.

    Examples
    --------
    >>> names = ["evaluate", "explain", "measures", "project.publish", "detections.estimate", "estimate"]
    >>> [meant(word, names) for word in ("publish", "metrics", "evalaute", "zzz")]
    [['project.publish'], ['measures'], ['evaluate'], []]
    """
    import difflib

    word = word.lower().replace("-", "_")
    by_last: dict[str, list[str]] = {}
    for name in names:
        by_last.setdefault(name.rpartition(separator)[2], []).append(name)
    if same := [name for one in (WORDS.get(word, ""), word) for name in by_last.get(one, ())]:
        return same[:MOST]
    # Longer names of the same thing: `estimate_scores`.
    longer = [last for last, full in by_last.items() if word.startswith(f"{last}_") and last in full]
    words = {known: means for known, means in WORDS.items() if means in by_last}
    spelt = longer or difflib.get_close_matches(word, by_last, n=MOST, cutoff=0.7)
    # What is called otherwise elsewhere has to be spelt nearly so.
    spelt = spelt or difflib.get_close_matches(word, words, n=MOST, cutoff=0.8)
    # Of one or two letters any name may be the longer form.
    spelt = spelt or [last for last in by_last if last.startswith(word) and len(word) > 2]
    likely = [name for last in spelt for name in by_last[last if last in by_last else words[last]]]
    return list(dict.fromkeys(likely))[:MOST]
