"""``karat search``: the pictures that fit a sentence best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat._util import check_extension, check_writable
from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import parse_settings

app = typer.Typer()


@app.command(cls=Command)
def search(
    model: options.Model,
    query: Annotated[str, typer.Argument(metavar="SENTENCE", help="What to look for.", show_default=False)],
    where: Annotated[
        str,
        options.option(
            "--in",
            panel=options.INPUT,
            choices="sources",
            show_default=False,
            help="A folder of pictures, or a benchmark.",
        ),
    ],
    top: options.Top = 10,
    weights: options.Weights = None,
    prompt: options.CaptionPrompt = None,
    precision: options.Precision = None,
    device: options.Device = None,
    batch: options.Batch = None,
    output: Annotated[Path | None, options.output("a page with the pictures, .html.")] = None,
    setting: options.Setting = None,
) -> None:
    """Find the pictures that fit a sentence best.

    Each line is the place, the cosine of picture and sentence, and the picture.
    """
    from karat.cli.show import saying, show
    from karat.models import load_model, search_pictures

    check_writable(output)
    check_extension(output, (".html",))
    encoder = load_model(
        model, weights=weights, prompt=prompt, precision=precision, device=device, batch=batch
    )
    with saying() as say:
        found = search_pictures(encoder, query, where, top, says=say, **parse_settings(setting))
    show(found)
    if output is not None and found.hits:
        from karat.reports import write_search_page

        write_search_page(output, query, [(hit.name, hit.path, hit.score) for hit in found.hits])
        print(f"wrote {output}")
