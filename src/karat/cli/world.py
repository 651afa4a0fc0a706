"""``karat world``: make pictures and captions whose right answers are known."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import plural
from karat.cli import options
from karat.cli.command import Command
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.world import World

app = typer.Typer()


@app.command(cls=Command)
def world(
    output: Annotated[Path, options.output("a folder.")],
    images: Annotated[int, typer.Option(help="How many pictures.")] = 1000,
    captions: Annotated[int, typer.Option(help="How many captions each.")] = 5,
    seed: options.Seed = 0,
    no_images: Annotated[bool, typer.Option("--no-images", help="Draw no pictures.")] = False,
    systems: Annotated[
        bool, typer.Option("--systems", help="Also write runs of simulated systems, to score and compare.")
    ] = False,
    force: options.Force = False,
) -> None:
    """Make pictures and captions whose right answers are known.

    A benchmark with its complete truth; the same seed gives the same bytes everywhere. The truth `original`
    says which picture each caption was written for, as benchmarks do; `complete` says of which pictures it
    is true, decided exactly.
    """
    from karat._util import check_folder, filling_folder
    from karat.cli.show import console, waiting
    from karat.world import HEADS, make_world, save_world

    check_folder(output)
    check_empty(output, force)
    with waiting(f"making {plural(images, 'scene')}"):
        made = make_world(images, captions, seed)
    with filling_folder(output, HEADS) as draft:
        # A status is shown on a terminal only.
        with console(stderr=True).status("deciding what is true") as status:

            def show(done: int) -> None:
                status.update(f"drawing {done:,} of {plural(images, 'picture')}")

            save_world(made, draft, pictures=not no_images, progress=show)
        with waiting("simulating systems"):
            runs = save_runs(made, draft / "runs") if systems else 0
    print_summary(made, output, not no_images, runs)


def check_empty(folder: Path, force: bool) -> None:
    """Raise before the work starts when the folder holds something that is not to be replaced."""
    from karat._util import is_empty

    if folder.is_dir() and not is_empty(folder) and not force:
        raise InputError("is not empty", where=folder, fix="choose another folder, or pass --force")


def save_runs(made: World, folder: Path) -> int:
    """Write the scores of the simulated systems into a draft, and return how many they are."""
    import numpy as np

    from karat.world import simulate_systems

    folder.mkdir()
    runs = simulate_systems(made, seed=made.seed)
    for run in runs:
        np.save(folder / f"{run.name}.npy", run.scores)
    return len(runs)


def print_summary(made: World, folder: Path, pictures: bool, runs: int) -> None:
    """Print what was made, how incomplete its original labels are, and what to do next."""
    import numpy as np

    true_of = made.positives[1]
    listed, known = len(made.texts), int(true_of.sum())
    number = plural(len(made.scenes), "image")
    print(f"{folder}: {number} with {plural(listed, 'caption')}, seed {made.seed}")
    print(
        f"a caption is true of {true_of.mean():.1f} images on average, median {np.median(true_of):g}; "
        f"{(true_of == 1).mean():.0%} of them only of their own image"
    )
    print(f"the original labels contain {listed:,} of the {known:,} true pairs ({listed / known:.1%})")
    wrote = ["the benchmark", *(["images/*.png"] if pictures else [])]
    wrote += [f"{plural(runs, 'run')} in runs/"] if runs else []
    print(f"wrote {', '.join(wrote)}")
    place = shlex.quote(str(folder))
    scored = f"{place}/runs/*.npy" if runs else "YOUR-SCORES.npy"
    print(f"next: karat evaluate {scored} --benchmark {place}")
