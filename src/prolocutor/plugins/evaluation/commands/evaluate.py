"""`prolocutor evaluate`; its commands are entry points, each imported when it is called."""

from __future__ import annotations

import os
import sys

import click

from prolocutor.cli.lazy_group import LazyGroup


@click.group(
    cls=LazyGroup,
    group="prolocutor.commands.evaluate",
    short_help="Measure assistants and agents on data.",
)
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
