"""From a project to a folder: a benchmark with a corrected truth, and everything behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat._util import plural, write_folder
from karat.benchmarks import Benchmark, Truth, describe_truth, save_benchmark
from karat.errors import InputError
from karat.judging.checking import AGGREGATIONS, CONTROL
from karat.judging.publishing.correction import Correction, correct
from karat.judging.publishing.data_card import data_card
from karat.judging.publishing.evidence import Evidence, evidence_of
from karat.judging.publishing.facts import Facts, find_facts
from karat.judging.publishing.listing import invalid_rows, write_invalid
from karat.judging.publishing.new_folder import check_place
from karat.judging.publishing.provenance import provenance, write_provenance
from karat.judging.publishing.published_tables import answer_table, pair_table
from karat.judging.publishing.qrels import write_qrels

NAME = re.compile(r"[\w.()=+@-]{1,80}")


@dataclass(frozen=True, eq=False)
class Published:
    """What was published.

    Parameters
    ----------
    folder
        Where.
    correction, facts
        The benchmark with its corrected truth, and the figures.
    notes
        What a reader should know.
    """

    folder: Path
    correction: Correction
    facts: Facts
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Published({self.correction.truth.name!r} in {str(self.folder)!r})"


def publish(
    project: Any,
    folder: str | Path,
    *,
    name: str = "corrected",
    aggregation: str = "dawid-skene",
    settings: Mapping[str, Any] | None = None,
    original: str | None = None,
    original_policy: str = "union",
    others: Sequence[str | Truth] = (),
    policy: str = "union",
    control: float = CONTROL,
    exclude: bool | None = None,
    surely: bool = False,
    captions_wrong: int = 0,
    approved_only: bool = False,
    real_names: bool = False,
    licence: str = "",
    made: str = "",
    overwrite: bool = False,
) -> Published:
    """Publish a corrected benchmark.

    The folder appears whole or not at all. The same project and choices give the same bytes.

    Parameters
    ----------
    project
        As `karat.judging.open_project` returns it, or an `Evidence`, whose answers were chosen already.
    folder
        Where; a folder that was published before and not touched since is replaced.
    name, aggregation, settings, original, original_policy, others, policy
        What becomes of the answers; see `karat.judging.publishing.correction.correct`.
    control, surely, captions_wrong, approved_only
        Which answers count; see `accepted_answers`. Rejected hand-ins never do.
    exclude
        Whether people who fail the control rule are left out; by default unless the aggregation weighs people
        itself, as in `karat.judging.checking.quality`.
    real_names
        Publish people's own names instead of w001, w002, …
    licence, made
        For the data card: under which licence the judgments are given, and when or by whom they were made.
    overwrite
        Replace a published folder that was touched since. What karat did not publish is never replaced.

    Returns
    -------
    Published
    """
    if not NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot be the name of a truth", fix="use letters, digits and . ( ) = + @ _ -"
        )
    place = check_place(folder, overwrite)
    exclude = not AGGREGATIONS[aggregation].weighs_people if exclude is None else exclude
    accepting: dict[str, Any] = {
        "control": control if exclude else None,
        "surely": surely,
        "captions_wrong": captions_wrong,
        "approved_only": approved_only,
    }
    evidence = project if isinstance(project, Evidence) else evidence_of(project, **accepting)
    correcting: dict[str, Any] = {"original_policy": original_policy, "policy": policy}
    found = correct(
        evidence,
        name=name,
        aggregation=aggregation,
        settings=settings,
        original=original,
        others=others,
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
    return Published(place, found, facts, tuple(notes))


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
