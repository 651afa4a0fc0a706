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
    "cider": "captions",
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
    "label": "serve",
    "leaderboard": "board",
    "lint": "inspect",
    "load": "load_run",
    "merge": "fuse",
    "metric": "measures",
    "metrics": "measures",
    "model": "fit",
    "normalize": "normalise",
    "page": "report",
    "paraphrase": "perturb",
    "power": "plan",
    "predict": "encode",
    "rank": "evaluate",
    "read": "load_run",
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
    "ui": "serve",
    "validate": "inspect",
    "vet": "next",
    "web": "serve",
    "why": "explain",
}
"""Words of other tools and of everyday speech, and what they are called here."""
MOST = 3


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

    word = word.lower()
    by_last: dict[str, list[str]] = {}
    for name in names:
        by_last.setdefault(name.rpartition(separator)[2], []).append(name)
    if same := [name for one in (WORDS.get(word, ""), word) for name in by_last.get(one, ())]:
        return same[:MOST]
    # Longer names of the same thing: `estimate_scores`.
    longer = [last for last, full in by_last.items() if word.startswith(f"{last}_") and last in full]
    words = {known: means for known, means in WORDS.items() if means in by_last}
    spelt = longer or difflib.get_close_matches(word, [*by_last, *words], n=MOST, cutoff=0.7)
    spelt = spelt or [last for last in by_last if last.startswith(word)]
    likely = [name for last in spelt for name in by_last[last if last in by_last else words[last]]]
    return list(dict.fromkeys(likely))[:MOST]
