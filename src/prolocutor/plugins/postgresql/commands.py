"""Commands for operators of an assistant with several processes."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class ReplicasCommand(LazyCommand, frozen=True):
    """List the processes that share a store, and workers."""

    place: ClassVar[str] = "prolocutor.plugins.postgresql.replicas.replicas_command:replicas"
