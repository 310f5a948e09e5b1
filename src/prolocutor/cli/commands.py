"""The commands of the core, each imported when it is called."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class ServeCommand(LazyCommand, frozen=True):
    """Open an assistant's doors to the network."""

    place: ClassVar[str] = "prolocutor.cli.serve:serve"


class CheckCommand(LazyCommand, frozen=True):
    """List the faults of a file, or show its plan."""

    place: ClassVar[str] = "prolocutor.cli.check:check"
