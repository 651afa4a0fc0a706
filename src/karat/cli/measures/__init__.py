"""``karat measures``: every measure with its formula, paper and parameters."""

import typer

from karat.cli.command import group
from karat.cli.measures import list, show

app = group("List the measures, or show one.", list, show, no_args_is_help=False, invoke_without_command=True)


@app.callback()
def alone(context: typer.Context) -> None:
    """List the measures where no command is given."""
    if context.invoked_subcommand is None:
        list.list()
