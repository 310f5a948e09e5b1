"""A group of commands that are imported when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from prolocutor.cli.late_import import imported


class LazyGroup(click.Group):
    """A group by a table: name -> (module:command, short help), from which the overview is made."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self._table:
            return None
        command: click.Command = imported(self._table[cmd_name][0])
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in self._table.items()])
