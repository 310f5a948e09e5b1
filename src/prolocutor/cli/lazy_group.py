"""Groups of commands that are found by entry points, and imported when they are called."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import click
import msgspec

from prolocutor.catalog import Catalog
from prolocutor.errors import ConfigError, MissingExtra
from prolocutor.names import did_you_mean


def import_object(place: str) -> Any:
    """Import and return the object `module:name` of this package."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


class LazyCommand(msgspec.Struct, frozen=True):
    """A command that is imported when it is called: `place` is `module:command`.

    The overview of its group shows the first line of a subclass's docstring, so it imports no
    command.
    """

    place: ClassVar[str]

    def build(self, context: click.Context) -> click.Command:
        """Import the command."""
        command: click.Command = import_object(self.place)
        return command


class LazyGroup(click.Group):
    """A group of the commands of an entry-point group: subclasses of `LazyCommand` or similar.

    It may also have its own commands.
    """

    def __init__(self, *args: Any, group: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self._catalog: Catalog[type[LazyCommand]] = Catalog("command", group)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names."""
        return sorted({*self._catalog.names(), *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if no command has the name."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        try:
            options = self._catalog.load(cmd_name)
        except MissingExtra:
            raise
        except ConfigError:
            if cmd_name in self._catalog.names():
                raise
            return None
        return options().build(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; for an unknown name, suggest the closest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if (hint := did_you_mean(args[0], self.list_commands(ctx))) is None:
                raise
            raise click.UsageError(f"{error.message} D{hint[1:]}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summary(name)) for name in self.list_commands(ctx)])

    def _summary(self, name: str) -> str:
        if name in self.commands:
            return self.commands[name].get_short_help_str(80)
        try:
            return (self._catalog.load(name).__doc__ or "").partition("\n")[0]
        except ConfigError as error:
            return error.what
