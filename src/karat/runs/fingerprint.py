"""What a run was made with: every fact that changes its numbers, in one small record that travels with it.

Files keep it inside where the format has a place for it, else beside them in ``NAME.made_with.json``; the
scorecard, the report and comparisons show it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from karat._util import and_list, plural, read_json_value, read_text, shorten
from karat.errors import InputError, printable

Fact = str | int | float | bool | None

MODEL_FACTS = ("architecture", "config", "model", "tokenizer", "weights")
"""Parts of the names of facts that say which model it was: two models differ in them by nature. Every other
fact says how a model was applied."""
TRUNCATED = "captions.truncated"
"""The fact that counts the captions of which the model read only the beginning; ``.first`` after it names
some of them."""
ENCODED = "encoding.version"
"""The fact that karat itself encoded a run, and by which version of its reading of files and captions."""
MOST_CHARACTERS = 1_000_000
MOST_NAMED = 4
MOST_OF_IDS = 200
"""Characters of the list of captions that were cut: five ids are no help when abbreviated."""
NORMALISED, USES_TEST_SET = "scores.normalised", "scores.uses_test_set"
"""The facts about steps that changed the scores: which, and whether they used the other test queries."""


class FactDifference(NamedTuple):
    """A fact that two runs do not share; None where one of them does not state it."""

    name: str
    first: Fact
    second: Fact


@dataclass(frozen=True)
class Fingerprint:
    """The facts behind a run: weights, preprocessing, precision, versions, steps that changed its scores.

    Parameters
    ----------
    facts
        Plain values under dotted names, such as ``{"weights.sha256": "9f…", "image.resize": 224}``.

    Examples
    --------
    >>> first = Fingerprint({"weights.sha256": "9f", "image.resize": 224})
    >>> first.differences(first.with_facts({"image.resize": 256}))
    [FactDifference(name='image.resize', first=224, second=256)]
    """

    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A short digest of all facts: equal where all of them are."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:24]

    def with_facts(self, facts: Mapping[str, Fact]) -> Fingerprint:
        """Return it with further facts, or others in place of its own."""
        return Fingerprint({**self.facts, **facts})

    def differences(self, other: Fingerprint) -> list[FactDifference]:
        """Return the facts in which two differ, by name."""
        names = sorted(self.facts.keys() | other.facts.keys())
        pairs = (FactDifference(name, self.facts.get(name), other.facts.get(name)) for name in names)
        return [pair for pair in pairs if pair.first != pair.second]

    def to_json(self) -> str:
        """Return it as text, names in order."""
        return json.dumps(dict(self.facts), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str, where: Any = None) -> Fingerprint:
        """Read it from text, or raise: what a file says is not trusted."""
        try:
            facts = json.loads(text) if len(text) <= MOST_CHARACTERS else None
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict) or not all(map(is_fact, facts.values())):
            fix = 'write plain values under names, such as {"image.resize": 224}'
            raise InputError("what the run was made with is not a list of facts", where=where, fix=fix)
        return cls(facts)

    def __str__(self) -> str:
        return ", ".join(f"{printable(name)} {show_fact(self.facts[name])}" for name in in_order(self.facts))


def is_fact(value: Any) -> bool:
    """Whether a value is plain: text, a finite number, yes or no, or nothing.

    >>> is_fact("bicubic"), is_fact(float("nan")), is_fact([224, 224])
    (True, False, False)
    """
    return isinstance(value, str | int | None) or (isinstance(value, float) and math.isfinite(value))


def show_fact(value: Fact) -> str:
    """Return a value in one short line, whatever a file says.

    >>> show_fact(True), show_fact(None), show_fact("a photo of {}"), show_fact("9f" * 32)
    ('yes', 'none', 'a photo of {}', '9f9f9f9f9f9f…f9f9f9f9f9f')
    """
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return shorten(printable(str(value)), 24)


def in_order(names: Any) -> list[str]:
    """Return names of facts by name, versions of packages last.

    >>> in_order(["versions.torch", "weights.sha256", "image.resize"])
    ['image.resize', 'weights.sha256', 'versions.torch']
    """
    return sorted(names, key=lambda name: (name.startswith("versions."), name))


def of_model(name: str) -> bool:
    """Whether a fact says which model it was, and not how it was applied.

    >>> of_model("weights.sha256"), of_model("text.tokenizer.sha256"), of_model("image.resize")
    (True, True, False)
    """
    return any(part in MODEL_FACTS for part in name.split("."))


def of_weights(name: str) -> bool:
    """Whether a fact says which weights a model had."""
    return "weights" in name.split(".")


def merge_fingerprints(parts: Mapping[str, Fingerprint | None]) -> Fingerprint | None:
    """Return what several parts were made with together; None where no part says so.

    A fact that not all parts share is under the name of its part.

    >>> images = Fingerprint({"model": "clip", "precision": "fp16"})
    >>> captions = Fingerprint({"model": "clip", "precision": "fp32"})
    >>> print(merge_fingerprints({"images": images, "captions": captions}))
    captions.precision fp32, images.precision fp16, model clip
    """
    known = {part: {} if made is None else made.facts for part, made in parts.items()}
    if not any(made is not None for made in parts.values()):
        return None
    first = next(iter(known.values()))
    shared = {
        name: value
        for name, value in first.items()
        if all(name in facts and facts[name] == value for facts in known.values())
    }
    own = {
        f"{part}.{name}": value
        for part, facts in known.items()
        for name, value in facts.items()
        if name not in shared
    }
    return Fingerprint({**shared, **own})


def split_facts(made_with: Mapping[str, Fingerprint]) -> tuple[list[str], list[str]]:
    """Return the facts in which runs differ, and those in which they do not.

    Runs that do not state a fact are not known to differ in it.

    >>> first = Fingerprint({"image.resize": 224, "precision": "fp32"})
    >>> second = Fingerprint({"precision": "fp16"})
    >>> split_facts({"a": first, "b": second})
    (['precision'], ['image.resize'])
    """
    names = in_order({name for made in made_with.values() for name in made.facts})
    stated = {name: [made.facts[name] for made in made_with.values() if name in made.facts] for name in names}
    differ = [name for name in names if any(value != stated[name][0] for value in stated[name])]
    return differ, [name for name in names if name not in differ]


def notes_on_making(made_with: Mapping[str, Fingerprint]) -> list[str]:
    """Return what a reader should know of how runs were made: captions cut short, and in what runs differ.

    >>> first = Fingerprint({"image.resize": 224, "captions.truncated": 3, "text.max_tokens": 77})
    >>> second = first.with_facts({"image.resize": 256, "captions.truncated": 0})
    >>> for note in notes_on_making({"a": first, "b": second}):
    ...     print(note)
    a: 3 captions are longer than the model reads and are cut after 77 tokens
    a and b differ in image.resize (224, 256): a difference between their scores may come from this
    """
    cut = [note_on_truncation(run, made.facts) for run, made in made_with.items()]
    return [*filter(None, cut), *note_on_differences(made_with)]


def note_on_truncation(run: str, facts: Mapping[str, Fact]) -> str:
    """Return how many captions a model read only the beginning of; nothing where it read all of them."""
    notes = []
    for name, number in facts.items():
        if not name.endswith(TRUNCATED) or not isinstance(number, int) or number < 1:
            continue
        verb = "is" if number == 1 else "are"
        most = facts.get(f"{name.removesuffix(TRUNCATED)}text.max_tokens")
        after = "" if most is None else f" after {show_fact(most)} tokens"
        some = facts.get(f"{name}.first")
        first = "" if some is None else f", first {shorten(printable(str(some)), MOST_OF_IDS)}"
        notes.append(
            f"{plural(number, 'caption')} {verb} longer than the model reads and {verb} cut{after}{first}"
        )
    return f"{run}: {'; '.join(notes)}" if notes else ""


class Contrast(NamedTuple):
    """The facts in which runs differ, and those in which they do not.

    Parameters
    ----------
    runs
        Those that state one of the facts in which some differ.
    model, how
        Facts in which they differ: which model it was, and how it was applied.
    shared
        Facts that all of these runs state, with the same value.
    """

    runs: list[str]
    model: list[str]
    how: list[str]
    shared: list[str]

    @classmethod
    def of(cls, made_with: Mapping[str, Fingerprint]) -> Contrast:
        """Compare what runs were made with; what a run does not state is not held against it."""
        differ, same = split_facts(made_with)
        # Truncated captions have their own note.
        differ = [name for name in differ if TRUNCATED not in name]
        runs = [run for run, made in made_with.items() if any(name in made.facts for name in differ)]
        shared = [name for name in same if all(name in made_with[run].facts for run in runs)]
        if any(map(of_weights, shared)) and not any(map(of_weights, differ)):
            # The same weights under another name are the same model.
            differ = [name for name in differ if name.split(".")[-1] != "model"]
        model, how = ([name for name in differ if of_model(name) is kind] for kind in (True, False))
        return cls(runs, model, how, shared)


def note_on_differences(made_with: Mapping[str, Fingerprint]) -> list[str]:
    """Return one note on the facts in which runs differ; what a run does not state is not held against it."""
    runs, model, how, shared = Contrast.of(made_with)
    if not model and not how:
        return []
    compared = and_list(runs) if len(runs) <= MOST_NAMED else f"the {len(runs)} runs"
    if not how:
        others = f"in none of the {plural(len(shared), 'other fact')} that they state" if shared else ""
        told = others or "state nothing else that can be compared"
        return [f"{compared} differ in the model ({named(model)}) and {told}"]
    values = and_list([f"{printable(name)} ({values_of(name, made_with)})" for name in how[:MOST_NAMED]])
    if len(how) > MOST_NAMED:
        values += f" and {plural(len(how) - MOST_NAMED, 'other fact')}"
    if model:
        return [
            f"{compared} differ in {values}, not only in the model ({named(model)}): a difference between "
            "their scores may come from any of these"
        ]
    same_model = [name for name in shared if of_model(name)]
    # Without their weights, two models of one name need not be the same.
    if any(map(of_weights, same_model)):
        return [
            f"{compared} have the same model ({named(same_model)}), but differ in {values}: a difference "
            "between their scores is not due to the model"
        ]
    return [f"{compared} differ in {values}: a difference between their scores may come from this"]


def named(names: Sequence[str]) -> str:
    """Return names of facts, the first few of many."""
    shown = [printable(name) for name in names[:MOST_NAMED]]
    return ", ".join(shown + [f"{len(names) - MOST_NAMED} more"] * (len(names) > MOST_NAMED))


def values_of(name: str, made_with: Mapping[str, Fingerprint]) -> str:
    """Return the values of one fact: of two runs in their order, of more with the runs that have them."""
    runs: dict[Fact, list[str]] = {}
    for run, made in made_with.items():
        if name in made.facts:
            runs.setdefault(made.facts[name], []).append(run)
    if sum(map(len, runs.values())) == 2:
        values = [show_fact(value) for value in runs]
        return ("; " if any("," in value for value in values) else ", ").join(values)
    return "; ".join(
        f"{show_fact(value)}: {', '.join(own) if len(own) <= MOST_NAMED else plural(len(own), 'run')}"
        for value, own in runs.items()
    )


def made_with_beside(path: Path) -> Path:
    """Return the file beside a run that says what it was made with.

    >>> made_with_beside(Path("runs/clip.npy")).name
    'clip.made_with.json'
    """
    return path.with_suffix(".made_with.json")


def read_made_with(path: Path) -> Fingerprint | None:
    """Return the facts in such a file; None where there is no file."""
    return Fingerprint.from_json(read_text(path), path) if path.is_file() else None


def made_with_of_runs(path: Path) -> Path:
    """Return the file beside scores that says what their runs were made with.

    >>> made_with_of_runs(Path("scores.json")).name
    'scores.runs.json'
    """
    return path.with_suffix(".runs.json")


def read_made_with_of_runs(path: Path) -> dict[str, Fingerprint]:
    """Return the facts of each run in such a file; nothing where there is no file."""
    if not path.is_file():
        return {}
    runs = read_json_value(path)
    if not isinstance(runs, dict):
        raise InputError("is not a dictionary of runs", where=path, fix="write the scores again")
    return {run: Fingerprint.from_json(json.dumps(facts), f"{path}, {run}") for run, facts in runs.items()}


def write_made_with(made_with: Fingerprint, path: Path) -> None:
    """Write facts to a file, one per line."""
    facts = {name: made_with.facts[name] for name in sorted(made_with.facts)}
    path.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def note_on_steps(made_with: Fingerprint | None) -> str | None:
    """Return what a reader should know of steps that changed a run's scores; None where none is stated.

    >>> note_on_steps(Fingerprint({NORMALISED: "csls(k=10)", USES_TEST_SET: True}))
    'its scores went through csls(k=10), which uses the whole test set: compare it with runs that did so too'
    """
    facts = {} if made_with is None else made_with.facts
    if not (steps := facts.get(NORMALISED)):
        return None
    if facts.get(USES_TEST_SET, True):
        use = "which uses the whole test set: compare it with runs that did so too"
    else:
        use = "with queries from elsewhere: each test query is ranked by itself"
    return f"its scores went through {steps}, {use}"
