"""From a project to a folder: a benchmark with a corrected truth, and everything behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat._util import Layout, Part, Result, plural, renamed_keywords, write_folder
from karat.benchmarks import Benchmark, Truth, describe_truth, save_benchmark
from karat.errors import InputError
from karat.judging.checking import AGGREGATIONS, CONTROL
from karat.judging.publishing.correction import Correction, correct
from karat.judging.publishing.data_card import data_card
from karat.judging.publishing.evidence import Evidence, evidence_of
from karat.judging.publishing.facts import Facts, find_facts
from karat.judging.publishing.listing import invalid_rows, write_invalid
from karat.judging.publishing.new_folder import check_place
from karat.judging.publishing.provenance import FILE, provenance, write_provenance
from karat.judging.publishing.published_tables import answer_table, pair_table
from karat.judging.publishing.qrels import write_qrels

NAME = re.compile(r"[\w.()=+@-]{1,80}")
SHOWN_COUNTS = (
    "answers", "answers_used", "people", "machine_answers", "pooled_pairs", "judged_pairs", "relevant_pairs",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Published(Result):
    """What was published.

    Parameters
    ----------
    folder
        Where.
    correction, facts
        The benchmark with its corrected truth, and the figures.
    notes
        What a reader should know.
    project
        Where the project is, as `karat bias` takes it.
    """

    folder: Path
    correction: Correction
    facts: Facts
    notes: tuple[str, ...] = ()
    project: str = ""

    def records(self) -> list[dict[str, Any]]:
        """Return one record: the truth, and the figures that matter most."""
        counts = {name: self.facts.counts[name] for name in SHOWN_COUNTS}
        last = self.facts.growth[-1]
        positives = {f"positives_{direction}": last.total(direction) for direction in last.positives}
        return [
            {"truth": self.correction.truth.name, "folder": str(self.folder), **counts, **positives,
             "conflicts": len(self.facts.conflicts)}
        ]  # fmt: skip

    def to_json(self) -> str:
        """Return how it was made, as the folder's own json says it."""
        return (self.folder / FILE).read_text(encoding="utf-8")

    def parts(self) -> list[Part]:
        """Return the figures that matter most, and what to do next."""
        counts, last = self.facts.counts, self.facts.growth[-1]
        rows = [
            ["truth", self.correction.truth.name],
            ["answers used", f"{counts['answers_used']:,} of {counts['answers']:,}"],
            ["people", f"{counts['people']:,}"],
            ["judged pairs", f"{counts['judged_pairs']:,} of {counts['pooled_pairs']:,} pooled"],
            ["relevant of these", f"{counts['relevant_pairs']:,}"],
            ["positive captions", last.shown("i2t")],
            ["positive images", last.shown("t2i")],
            ["conflicts", plural(len(self.facts.conflicts), "pair")],
        ]
        if counts["machines"]:
            machines = f"{len(counts['machines'])}, {counts['machine_answers']:,} answers"
            rows.insert(3, ["machine judges", machines])
        bias = f"\n  karat bias {self.project}" if self.project else ""
        return [
            Layout(["published", ""], rows),
            f"wrote {self.folder}; read its README.md, then:",
            f"  karat evaluate RUN --benchmark {self.folder}{bias}",
        ]

    def __repr__(self) -> str:
        return f"Published({self.correction.truth.name!r} in {str(self.folder)!r})"


@renamed_keywords(
    name="truth_name",
    aggregation="aggregate",
    settings="aggregate_set",
    original_policy="keep_original",
    others="merge",
    surely="only_if_certain",
    overwrite="force",
)
def publish(
    project: Any,
    folder: str | Path,
    *,
    truth_name: str = "corrected",
    aggregate: str = "dawid-skene",
    aggregate_set: Mapping[str, Any] | None = None,
    original: str | None = None,
    keep_original: str = "union",
    merge: Sequence[str | Truth] = (),
    policy: str = "union",
    control: float = CONTROL,
    exclude: bool | None = None,
    only_if_certain: bool = False,
    captions_wrong: int = 0,
    approved_only: bool = False,
    real_names: bool = False,
    licence: str = "",
    made: str = "",
    force: bool = False,
) -> Published:
    """Publish a corrected benchmark.

    The folder appears whole or not at all. The same project and choices give the same bytes.

    Parameters
    ----------
    project
        As `karat.judging.open_project` returns it, or an `Evidence`, whose answers were chosen already.
    folder
        Where; a folder that was published before and not touched since is replaced.
    truth_name
        What the new truth is called.
    aggregate, aggregate_set
        How answers become verdicts: the method and its settings.
    original, keep_original
        The truth with the original positives, by default the benchmark's first, and which of them stay:
        "union" keeps all, "people" or "majority" may reject some.
    merge, policy
        Further truths, and what counts where they and people differ; see
        `karat.judging.publishing.correction.correct`.
    control, only_if_certain, captions_wrong, approved_only
        Which answers count; see `accepted_answers`. Rejected hand-ins never do.
    exclude
        Whether people who fail the control rule are left out; by default unless the aggregation weighs people
        itself, as in `karat.judging.checking.quality`.
    real_names
        Publish people's own names instead of w001, w002, …
    licence, made
        For the data card: under which licence the judgments are given, and when or by whom they were made.
    force
        Replace a published folder that was touched since. What karat did not publish is never replaced.

    Returns
    -------
    Published
    """
    if not NAME.fullmatch(truth_name):
        raise InputError(
            f"{truth_name!r} cannot be the name of a truth", fix="use letters, digits and . ( ) = + @ _ -"
        )
    place = check_place(folder, force)
    exclude = not AGGREGATIONS[aggregate].weighs_people if exclude is None else exclude
    accepting: dict[str, Any] = {
        "control": control if exclude else None,
        "surely": only_if_certain,
        "captions_wrong": captions_wrong,
        "approved_only": approved_only,
    }
    evidence = project if isinstance(project, Evidence) else evidence_of(project, **accepting)
    correcting: dict[str, Any] = {"original_policy": keep_original, "policy": policy}
    found = correct(
        evidence,
        name=truth_name,
        aggregation=aggregate,
        settings=aggregate_set,
        original=original,
        others=merge,
        **correcting,
    )
    found, dropped = without_unsavable(found)
    facts = find_facts(evidence, found)
    notes = [*evidence.left_out, *dropped]
    choices = {**({} if project is evidence else accepting), **correcting, "real_names": real_names}

    def write(draft: Path) -> None:
        save_benchmark(found.benchmark, draft)
        answer_table(evidence, real_names).write_parquet(draft / "answers.parquet")
        pair_table(evidence, found).write_parquet(draft / "pairs.parquet")
        facts.conflicts.write(draft / "conflicts.csv", evidence.benchmark)
        write_invalid(invalid_rows(evidence, facts), draft / "invalid.csv")
        notes.extend(qrels_or_note(found.benchmark, found.truth, draft))
        card = data_card(evidence, found, facts, licence=licence, made=made)
        (draft / "README.md").write_text(card, encoding="utf-8", newline="\n")
        write_provenance(provenance(evidence, found, facts, choices, made), draft)

    write_folder(place, write)
    if facts.candidates:
        notes.append(f"{plural(len(facts.candidates), 'item')} may be invalid: see invalid.csv")
    return Published(place, found, facts, tuple(notes), getattr(project, "where", ""))


def without_unsavable(found: Correction) -> tuple[Correction, list[str]]:
    """Return the correction without older truths that a folder cannot hold, and a note for each."""
    notes, truths = [], {}
    for name, truth in found.benchmark.truths.items():
        try:
            describe_truth(truth)
        except InputError as error:
            notes.append(f"the truth {name!r} is not in the folder: {error.what}")
        else:
            truths[name] = truth
    defaults = {name: found.benchmark.defaults[name] for name in truths if name in found.benchmark.defaults}
    return replace(found, benchmark=replace(found.benchmark, truths=truths, defaults=defaults)), notes


def qrels_or_note(benchmark: Benchmark, truth: Truth, folder: Path) -> list[str]:
    """Write qrels; where ids cannot stand in them, say so."""
    try:
        write_qrels(benchmark, truth, folder)
    except InputError as error:
        return [f"there are no qrels: {error.what}"]
    return []
