"""The resources of the console's API, and their common parts.

One file holds the routes of one resource: a class made of a `ConsoleContext` (or of less), with
`routes`, which `channel.py` lists. Every route begins with `BASE` and is for `operators`. Reading
is an `Operation`, writing an `OperatorWrite`. Lists are pages (`paging.py`), what takes long is a
job (`jobs.py`). Times are seconds (UNIX). What an endpoint returns is a Struct of its file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route, WebSocketRoute
from prolocutor.plugins.console.jobs import JobRegister

BASE: Final = "/api/console"


class ConsoleContext(msgspec.Struct, frozen=True, kw_only=True):
    """The common parts of a console's resources.

    `folder` is the folder of the assistant's file: paths in the door's options are relative to it.
    """

    assistant: Assistant
    jobs: JobRegister
    folder: Path = Path()


class ConsoleResource(Protocol):
    """The endpoints of one resource."""

    @property
    def routes(self) -> Sequence[Route | WebSocketRoute]:
        """Its routes."""
