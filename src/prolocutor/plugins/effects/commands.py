"""The command of effects."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class EffectCommands(LazyCommand, frozen=True):
    """Show what skills did that act, and settle what nobody knows."""

    place: ClassVar[str] = "prolocutor.plugins.effects.command:effects"
