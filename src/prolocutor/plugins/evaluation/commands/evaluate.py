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
    """Measure an assistant or an agent on data, and compare and read runs.

    A run is a folder with a row for each example. After an interruption the same command resumes
    it.

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
