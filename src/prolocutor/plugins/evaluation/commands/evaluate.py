"""`prolocutor evaluate`: the table of its commands, each imported when it is called."""

from __future__ import annotations

import os
import sys
from typing import Final

import click

from prolocutor.cli.lazy_group import LazyGroup

COMMANDS: Final = {
    "run": (
        "prolocutor.plugins.evaluation.commands.evaluate_run:run",
        "Measure an assistant or an agent on data.",
    ),
    "pairing": (
        "prolocutor.plugins.pairing.commands.evaluate_pairing:pairing",
        "Measure routers, rankers and budgets.",
    ),
    "rescore": (
        "prolocutor.plugins.evaluation.commands.evaluated_runs:rescore",
        "Score a run again, without asking.",
    ),
    "compare": (
        "prolocutor.plugins.evaluation.commands.evaluated_runs:compare",
        "Set two runs side by side.",
    ),
    "report": (
        "prolocutor.plugins.evaluation.commands.evaluated_runs:report",
        "Write a run as one page to read.",
    ),
}
"""Name -> the command and its short help."""


@click.group(cls=LazyGroup, table=COMMANDS, short_help="Measure assistants and agents on data.")
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
