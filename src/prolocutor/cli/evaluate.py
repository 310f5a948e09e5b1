"""`prolocutor evaluate`: the table of its parts, each loaded when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Final

import click

PARTS: Final = {
    "run": ("prolocutor.cli.evaluate_run:run", "Measure an assistant or an agent on data."),
    "pairing": ("prolocutor.cli.evaluate_pairing:pairing", "Measure who chooses agents."),
    "rescore": ("prolocutor.cli.evaluate_rescore:rescore", "Score a run anew, asking nobody."),
    "compare": ("prolocutor.cli.evaluate_compare:compare", "Set two runs side by side."),
    "report": ("prolocutor.cli.evaluate_report:report", "Write a run as one page to read."),
}
"""Name -> where it lives and what the overview says of it."""


class Parts(click.Group):
    """A group whose commands are loaded from the table when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(PARTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        if cmd_name not in PARTS:
            return None
        module, _, name = PARTS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in PARTS.items()])


@click.group(cls=Parts, short_help="Measure assistants and agents on data.")
def evaluate() -> None:
    """Measure an assistant or an agent on data, compare runs, read them.

    A run is a folder with one row an example. Interrupted at any point, the same command goes on
    where it stopped.

    \b
    Examples:
      prolocutor evaluate run my-assistant/assistant.yaml --data parlai:test.txt --out runs/before
      prolocutor evaluate run ir_baseline --data parlai:test.txt --fail-under accuracy=0.3
      prolocutor evaluate compare runs/before runs/after
      prolocutor evaluate report runs/after
    """
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)  # where agents and metrics of one's own are found
