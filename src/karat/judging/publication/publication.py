"""A publication: a folder with a corrected benchmark and everything behind it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat._util import Layout, Part, Result, guard_table, plural, stage, write_folder
from karat.benchmarks import Benchmark, Truth, describe_truth, save_benchmark, write_qrels
from karat.errors import InputError
from karat.forms import MACHINE
from karat.judging.publication.correction import Correction, check_new_truth, correct, judged_sets
from karat.judging.publication.data_card import data_card
from karat.judging.publication.evidence import Evidence, evidence_of, published_benchmark
from karat.judging.publication.facts import Facts, find_facts
from karat.judging.publication.provenance import FILE, changed_files, provenance, write_provenance
from karat.judging.publication.tables import (
    answer_table,
    conflict_table,
    invalid_rows,
    invalid_table,
    pair_table,
)
from karat.judging.publication.validity import mark
from karat.judging.quality import AcceptanceRule, login_name

NAME = re.compile(r"[\w.()=+@-]{1,80}")
SHOWN_COUNTS = (
    "answers", "answers_used", "people", "machine_answers", "pooled_pairs", "judged_pairs", "relevant_pairs",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Published(Result):
    """A published benchmark.

    Parameters
    ----------
    folder
        The published folder.
    correction, facts
        The benchmark with its corrected truth, and the figures.
    notes
        What a reader should know.
    project
        The project, as `karat project bias` takes it.
    """

    folder: Path
    correction: Correction
    facts: Facts
    notes: tuple[str, ...] = ()
    project: str = ""

    def records(self) -> list[dict[str, Any]]:
        """Return one record: the truth, and the most important figures."""
        counts = {name: self.facts.counts[name] for name in SHOWN_COUNTS}
        last = self.facts.growth[-1]
        positives = {f"positives_{direction}": last.total(direction) for direction in last.positives}
        return [
            {"truth": self.correction.truth.name, "folder": str(self.folder), **counts, **positives,
             "conflicts": len(self.facts.conflicts)}
        ]  # fmt: skip

    def to_json(self) -> str:
        """Return how it was made: the text of the folder's karat-judging.json."""
        return (self.folder / FILE).read_text(encoding="utf-8")

    def parts(self) -> list[Part]:
        """Return the most important figures, and what to do next."""
        counts, last, bench = self.facts.counts, self.facts.growth[-1], self.correction.benchmark
        rows = [
            ["truth", self.correction.truth.name],
            ["answers used", f"{counts['answers_used']:,} of {counts['answers']:,}"],
            ["annotators", f"{counts['people'] + len(counts['machines']):,}"],
            ["judged pairs", f"{counts['judged_pairs']:,} of {counts['pooled_pairs']:,} pooled"],
            ["relevant of these", f"{counts['relevant_pairs']:,}"],
            *([f"positive {bench.item_side(way).many}", last.shown(way)] for way in bench.asked_directions),
            ["conflicts", plural(len(self.facts.conflicts), "pair")],
        ]
        if counts["machines"]:
            machines = f"{len(counts['machines'])}, {plural(counts['machine_answers'], 'answer')}"
            rows.insert(3, ["machine judges among them", machines])
        bias = f"\n  karat project bias {shlex.quote(str(self.project))}" if self.project else ""
        return [
            Layout(["published", ""], rows),
            f"wrote {self.folder}; read its README.md, then:",
            f"  karat evaluate RUN --benchmark {shlex.quote(str(self.folder))}{bias}",
        ]

    def __repr__(self) -> str:
        return f"Published({self.correction.truth.name!r} in {str(self.folder)!r})"


def publish(
    project: Any,
    output: str | Path,
    *,
    force: bool = False,
    acceptance: AcceptanceRule | None = None,
    truth_name: str = "corrected",
    original: str | None = None,
    keep_original: str = "union",
    merge: Iterable[str | Truth] | str | Truth = (),
    policy: str = "union",
    invalid: str | Path | None = None,
    reviewer: str = "",
    real_names: bool = False,
    licence: str = "",
    made: str = "",
) -> Published:
    """Publish a benchmark with the corrected truth: the truth, every answer, and a data card.

    The folder appears whole or not at all. The same project and choices give the same bytes.

    Parameters
    ----------
    project
        An open project, of which `karat.project.publish` also takes the file or address; or an `Evidence`,
        which says itself which answers count.
    output
        The folder to write; one that karat published and that was not changed since is replaced.
    force
        Replace a published folder that was changed since. A folder that karat did not publish is never
        replaced.
    acceptance
        Which answers count, and how they become verdicts.
    truth_name
        The name of the new truth.
    original, keep_original
        The truth with the original positives, by default the benchmark's first, and which of them stay:
        "union" keeps all, "people" or "majority" may reject some.
    merge, policy
        Further truths, and what counts where they and the annotators differ; see `karat.judging.correct`.
    invalid
        First apply the decisions in this copy of the file invalid.csv that publishing writes.
    reviewer
        Who decided them; the login name by default.
    real_names
        Publish annotators' own names instead of w001, w002, …
    licence, made
        For the data card: the licence of the judgments, and when or by whom they were made.

    Returns
    -------
    Published
    """
    if not NAME.fullmatch(truth_name):
        raise InputError(
            f"{truth_name!r} cannot be the name of a truth", fix="use letters, digits and . ( ) = + @ _ -"
        )
    place = check_place(output, force)
    others = [merge] if isinstance(merge, str | Truth) else list(merge)
    marks: list[str] = []
    with stage("reading the project", 4) as publishing:
        if isinstance(project, Evidence):
            if acceptance is not None or invalid is not None:
                name = "invalid" if acceptance is None else "acceptance"
                raise InputError("the evidence says itself which answers count", fix=f"leave out {name}")
            evidence, accepting = project, {}
        else:
            rule = acceptance or AcceptanceRule()
            # Before a large project is read.
            benchmark = published_benchmark(project)
            judged_sets(benchmark, original, keep_original, others, policy)
            if MACHINE not in project.annotators.read()[1]:
                # The truth of machine judges alone has another name.
                check_new_truth(benchmark, truth_name)
            if invalid is not None:
                changed = mark(project, invalid, reviewer or login_name())
                marks.append(f"changed {plural(changed, 'mark')}")
            evidence, accepting = evidence_of(project, rule), rule_record(rule)
        publishing.at(1, "aggregating answers")
        correcting: dict[str, Any] = {"original_policy": keep_original, "policy": policy}
        correction, dropped = without_unsavable(
            correct(evidence, name=truth_name, original=original, others=others, **correcting)
        )
        publishing.at(2, "describing the labels")
        facts = find_facts(evidence, correction)
        notes = [*evidence.left_out, *dropped]
        choices = {**accepting, **correcting, "real_names": real_names}

        def write(draft: Path) -> None:
            save_benchmark(correction.benchmark, draft)
            answer_table(evidence, real_names).write_parquet(draft / "answers.parquet")
            pair_table(evidence, correction).write_parquet(draft / "pairs.parquet")
            conflicts = guard_table(conflict_table(facts.conflicts, evidence.benchmark))
            conflicts.write_csv(draft / "conflicts.csv")
            invalid = guard_table(invalid_table(invalid_rows(evidence, facts.candidates)))
            invalid.write_csv(draft / "invalid.csv")
            notes.extend(qrels_or_note(correction.benchmark, correction.truth, draft))
            card = data_card(evidence, correction, facts, licence=licence, made=made)
            (draft / "README.md").write_text(card, encoding="utf-8", newline="\n")
            write_provenance(provenance(evidence, correction, facts, choices, made), draft)

        publishing.at(3, "writing files")
        write_folder(place, write)
        publishing.at(4)
    if facts.candidates:
        notes.append(f"{plural(len(facts.candidates), 'item')} may be invalid: see invalid.csv")
    return Published(place, correction, facts, (*notes, *marks), getattr(project, "where", ""))


def rule_record(rule: AcceptanceRule) -> dict[str, Any]:
    """Return which answers count, by the names in published files, which stay."""
    return {
        "control": rule.required_share, "surely": rule.only_if_certain,
        "captions_wrong": rule.captions_wrong, "approved_only": rule.approved_only,
    }  # fmt: skip


def check_place(folder: str | Path, force: bool = False) -> Path:
    """Return where a folder goes, or raise an error if it would replace something that cannot be made again.

    A folder that karat published, and that was not changed since, can be made again from its project: it is
    replaced. One that was changed, for example with a licence in its card, is replaced only with `force`;
    anything else never.
    """
    folder = Path(folder)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError("is not a folder", where=folder, fix="give the name of a new one")
    if not folder.resolve().parent.is_dir():
        raise InputError(f"there is no folder {folder.parent}", where=folder, fix="create it first")
    if not folder.exists() or not any(folder.iterdir()):
        return folder
    changed = changed_files(folder)
    if changed is None:
        raise InputError(
            "contains files that karat did not publish", where=folder, fix="choose another folder"
        )
    if changed and not force:
        raise InputError(
            f"{changed[0]!r} was changed since it was published",
            where=folder,
            fix="choose another folder, or pass --force",
        )
    return folder


def without_unsavable(correction: Correction) -> tuple[Correction, list[str]]:
    """Return the correction without older truths that cannot be saved, and a note for each of them."""
    benchmark, notes, truths = correction.benchmark, [], {}
    for name, truth in benchmark.truths.items():
        try:
            describe_truth(truth)
        except InputError as error:
            notes.append(f"the truth {name!r} is not in the folder: {error.what}")
        else:
            truths[name] = truth
    defaults = {name: benchmark.defaults[name] for name in truths if name in benchmark.defaults}
    return replace(correction, benchmark=replace(benchmark, truths=truths, defaults=defaults)), notes


def qrels_or_note(benchmark: Benchmark, truth: Truth, folder: Path) -> list[str]:
    """Write qrels; return a note instead if the ids do not allow it."""
    try:
        write_qrels(benchmark, truth, folder)
    except InputError as error:
        return [f"no qrels were written: {error.what}"]
    return []
