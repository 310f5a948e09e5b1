"""The command of ACP."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class AcpCommand(LazyCommand, frozen=True):
    """Offer an assistant to an editor (ACP), over stdio."""

    place: ClassVar[str] = "prolocutor.plugins.acp.agent:acp"
