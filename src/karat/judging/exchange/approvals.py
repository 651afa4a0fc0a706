"""Approvals: which masks of instances annotators found right, as `karat estimate` and csv files take them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat._util import check_writable, guard, write_file
from karat.benchmarks import Instances
from karat.errors import InputError
from karat.judging.exchange.export import Exported
from karat.judging.quality import AcceptanceRule, project_verdicts

if TYPE_CHECKING:
    from karat.store import Project


def project_approvals(
    project: Project, instances: Instances | None = None, acceptance: AcceptanceRule | None = None
) -> dict[int | str, bool]:
    """Return, by annotation ids, whether the verdict of a project is that the mask is right.

    What was known before, ``--set approved=FILE.csv``, counts too.

    Parameters
    ----------
    project
        Of instances, as ``karat project pool -b instances.json`` makes it.
    instances
        Where the verdicts are to be used, if elsewhere: the masks must be those that annotators saw.
    acceptance
        Which answers count, and how they become verdicts; by default as in `karat.judging.publish`.
    """
    benchmark = project.benchmark()
    shown = benchmark.instances
    if shown is None:
        raise InputError(
            "is not a project of instances",
            where=project.where,
            fix="make one: karat project pool -b instances.json --form mask",
        )
    if instances is not None and instances.digest != shown.digest:
        raise InputError(
            f"annotators saw other masks than those of {instances.name}",
            where=project.where,
            fix="give the file of instances that was pooled",
        )
    _, verdicts = project_verdicts(project, acceptance)
    own = np.asarray(verdicts.image) == shown.image[verdicts.caption]
    approvals: dict[int | str, bool] = {}
    for known in (truth.judgments for truth in benchmark.truths.values() if truth.judgments is not None):
        pairs = known.pairs()
        approvals.update(zip(shown.id[pairs.caption].tolist(), (pairs.grade > 0).tolist()))
    approvals.update(zip(shown.id[verdicts.caption[own]].tolist(), verdicts.relevant[own].tolist()))
    return approvals


def export_approvals(project: Project, path: str | Path) -> Exported:
    """Write the verdicts on masks as csv, with the columns annotation and approved (1 or 0)."""
    path = Path(path)
    check_writable(path)
    if path.suffix != ".csv":
        raise InputError("approvals are written as csv", where=path, fix="give a name that ends in .csv")
    approvals = project_approvals(project)
    write_approvals(approvals, path)
    return Exported(len(approvals), "approval", "csv", (path,))


def write_approvals(approvals: dict[int | str, bool], path: Path) -> None:
    """Write answers about masks, in the form in which instances read them."""
    lines = ["annotation,approved", *(f"{guard(str(key))},{int(right)}" for key, right in approvals.items())]
    write_file(path, lambda draft: draft.write_text("\n".join(lines) + "\n", encoding="utf-8"))
