"""Commands for stored dialogs, for keys and for the audit trail."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class DialogsCommand(LazyCommand, frozen=True):
    """List, show, export, rate and delete dialogs."""

    place: ClassVar[str] = "prolocutor.plugins.upkeep.dialogs_command:dialogs"


class KeysCommand(LazyCommand, frozen=True):
    """Make, list and revoke keys of operators and tokens."""

    place: ClassVar[str] = "prolocutor.plugins.upkeep.keys_command:keys"


class AuditCommand(LazyCommand, frozen=True):
    """List the operators' actions."""

    place: ClassVar[str] = "prolocutor.plugins.upkeep.keys_command:audit"
