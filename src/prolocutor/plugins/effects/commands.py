"""The command of effects."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class EffectCommands(LazyCommand, frozen=True):
    """Show the effects of skills that act, and settle unknown outcomes."""

    place: ClassVar[str] = "prolocutor.plugins.effects.command:effects"
