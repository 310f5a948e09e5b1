"""The command of workers."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class WorkerCommand(LazyCommand, frozen=True):
    """Run services as workers behind NATS."""

    place: ClassVar[str] = "prolocutor.plugins.nats.command:worker"
