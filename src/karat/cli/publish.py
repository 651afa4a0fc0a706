"""``karat publish``: a project as a benchmark with a corrected truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat._util import check_writable, plural, write_file
from karat.cli import judging_options
from karat.cli.options import ListCommand, parse_settings, split_names

if TYPE_CHECKING:
    from karat._util import Layout
    from karat.judging import Published

app = typer.Typer()


@app.command(cls=ListCommand)
def publish(
    project: judging_options.ProjectPlace,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The new folder; one that karat published is replaced.")
    ],
    name: Annotated[str, typer.Option(help="What the new truth is called.")] = "corrected",
    aggregation: judging_options.Aggregate = "dawid-skene",
    setting: judging_options.Setting = None,
    original: Annotated[
        str | None, typer.Option(help="The truth with the original positives; the benchmark's first.")
    ] = None,
    keep_original: Annotated[
        str,
        typer.Option(help="Original positives: union keeps them all; people or majority may reject some."),
    ] = "union",
    merge: Annotated[
        list[str] | None, typer.Option(help="Further truths of the benchmark, such as cxc.", metavar="TRUTH")
    ] = None,
    policy: Annotated[
        str, typer.Option(help="Where these and people differ: union, people or majority.")
    ] = "union",
    control: judging_options.Control = 0.7,
    surely: judging_options.Surely = False,
    captions_wrong: judging_options.CaptionsWrong = 0,
    exclude: judging_options.Exclude = None,
    approved_only: judging_options.ApprovedOnly = False,
    real_names: Annotated[
        bool, typer.Option("--real-names", help="Publish people's own names instead of w001, w002, …")
    ] = False,
    licence: Annotated[str, typer.Option(help="For the data card: the licence of the judgments.")] = "",
    invalid: Annotated[
        Path | None,
        typer.Option(help="First mark what this copy of an invalid.csv decides: status remove or keep."),
    ] = None,
    reviewer: Annotated[str, typer.Option(help="With --invalid: who decided; your login name.")] = "",
    made: Annotated[str, typer.Option(help="For the data card: when, or by whom.")] = "",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a published folder that was changed since.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write how it was made here as json, too.")] = None,
) -> None:
    """Publish a project: a benchmark folder with a corrected truth, every answer and a data card."""
    from karat.cli.quality import login_name
    from karat.cli.show import console, print_notes, print_table, waiting
    from karat.judging import open_project
    from karat.judging import publish as write
    from karat.judging.publishing import FILE, mark

    check_writable(json)
    options: dict[str, Any] = {
        "name": name,
        "aggregation": aggregation,
        "settings": parse_settings(setting),
        "original": original,
        "original_policy": keep_original,
        "others": split_names(merge) or (),
        "policy": policy,
        "control": control,
        "exclude": exclude,
        "surely": surely,
        "captions_wrong": captions_wrong,
        "approved_only": approved_only,
        "real_names": real_names,
        "licence": licence,
        "made": made,
        "overwrite": overwrite,
    }
    with open_project(project) as opened:
        if invalid is not None:
            changed = mark(opened, invalid, reviewer or login_name())
            console(stderr=True).print(f"changed {plural(changed, 'mark')}")
        with waiting("publishing"):
            found = write(opened, output, **options)
    if json is not None:
        made_how = (found.folder / FILE).read_text(encoding="utf-8")
        write_file(json, lambda path: path.write_text(made_how, encoding="utf-8"))
    print_table(summary(found), console())
    print(f"\nwrote {found.folder}; read its README.md, then:\n")
    print(f"  karat evaluate RUN --benchmark {found.folder}\n  karat bias {project}")
    print_notes(found.notes)


def summary(found: Published) -> Layout:
    """Return the figures that matter most as a table."""
    from karat._util import Layout

    counts, last = found.facts.counts, found.facts.growth[-1]
    rows = [
        ["truth", found.correction.truth.name],
        ["answers used", f"{counts['answers_used']:,} of {counts['answers']:,}"],
        ["people", f"{counts['people']:,}"],
        ["judged pairs", f"{counts['judged_pairs']:,} of {counts['pooled_pairs']:,} pooled"],
        ["relevant of these", f"{counts['relevant_pairs']:,}"],
        ["positive captions", last.shown("i2t")],
        ["positive images", last.shown("t2i")],
        ["conflicts", plural(len(found.facts.conflicts), "pair")],
    ]
    if counts["machines"]:
        rows.insert(
            3, ["machine judges", f"{len(counts['machines'])}, {counts['machine_answers']:,} answers"]
        )
    return Layout(["published", ""], rows, set(), 1, set())
