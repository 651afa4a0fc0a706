"""``karat benchmarks``: what is known, with counts; add and remove your own."""

import typer

from karat.cli.benchmarks import add, list, remove, show
from karat.cli.command import group

app = group(
    "List the benchmarks, show one, or add your own.",
    list, show, add, remove,
    no_args_is_help=False, invoke_without_command=True,
)  # fmt: skip


@app.callback()
def alone(context: typer.Context) -> None:
    """List the benchmarks where no command is given."""
    if context.invoked_subcommand is None:
        list.list()
