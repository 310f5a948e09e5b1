"""Commands for stores as a whole, and for persons as a whole."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class StoresCommand(LazyCommand, frozen=True):
    """Migrate, check and copy stores."""

    place: ClassVar[str] = "prolocutor.plugins.transfer.store_command:store"


class PersonCommand(LazyCommand, frozen=True):
    """Export, import and move persons."""

    place: ClassVar[str] = "prolocutor.plugins.transfer.person_command:person"
