"""The command of rollouts."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class RolloutCommands(LazyCommand, frozen=True):
    """Show, promote and stop what is tried out."""

    place: ClassVar[str] = "prolocutor.plugins.rollout.command:rollout"
