"""``karat search``: the pictures that fit a sentence best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat._util import check_extension, check_writable
from karat.cli.options import ListCommand, parse_settings
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.models import ImageTextModel

app = typer.Typer()


@app.command(cls=ListCommand)
def search(
    model: Annotated[Path, typer.Argument(help="A folder that karat fit wrote.", show_default=False)],
    query: Annotated[str, typer.Argument(help="What to look for.", show_default=False)],
    where: Annotated[
        str, typer.Option("--in", help="A folder of pictures, or a benchmark.", show_default=False)
    ],
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="How many pictures.")] = 10,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write a page with the pictures, .html.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the benchmark: --set split=test.")
    ] = None,
) -> None:
    """Print the pictures that fit a sentence best, by a model that karat fit trained.

    Each line is the place, the cosine of picture and sentence, and the picture.
    """
    from karat.cli.show import console, print_notes, saying
    from karat.models import ImageTextModel

    check_writable(output)
    check_extension(output, (".html",))
    if not query.strip():
        raise InputError("there is nothing to look for", fix='write a sentence, such as "a dog on a beach"')
    fitted = ImageTextModel.load(model)
    names, paths = gallery(where, setting)
    with saying() as say:
        found = fitted.search(query, paths, top, says=say)
    if not found:
        print_notes([f"no word of {query!r} was in the captions that the model was trained on"])
        return
    unknown = unknown_words(fitted, query)
    if unknown:
        print_notes([f"not in the captions that the model was trained on: {', '.join(unknown)}"])
    screen = console()
    for place, (image, score) in enumerate(found, start=1):
        screen.print(f"{place:>3}  {score:.3f}  {names[image]}", markup=False)
    if output is not None:
        from karat.reports import write_search_page

        write_search_page(output, query, [(names[k], paths[k], score) for k, score in found])
        print(f"wrote {output}")


def unknown_words(model: ImageTextModel, query: str) -> list[str]:
    """Return the words of a query that no training caption has."""
    words = model.words_.transform([query])[0]
    return [word for word in dict.fromkeys(words) if word not in model.kernel_.vocabulary_]


def gallery(where: str, setting: list[str] | None) -> tuple[list[str], list[str]]:
    """Return names and files of pictures: all in a folder, with captions or without, or a benchmark's."""
    from karat.benchmarks import find_images, load_benchmark
    from karat.models import pictures_of

    folder = Path(where)
    if setting or not folder.is_dir() or (folder / "benchmark.json").is_file():
        bench = load_benchmark(where, **parse_settings(setting))
        return bench.images.values.astype(str).tolist(), pictures_of(bench)
    names = find_images(folder)
    if not names:
        raise InputError("holds no pictures", where=folder, fix="give a folder of jpg, png or webp files")
    return names, [str(folder / name) for name in names]
