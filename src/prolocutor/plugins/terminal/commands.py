"""Commands to talk to an assistant."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class AskCommand(LazyCommand, frozen=True):
    """Ask a question and print the reply."""

    place: ClassVar[str] = "prolocutor.plugins.terminal.chat:ask"


class ChatCommand(LazyCommand, frozen=True):
    """Talk to an assistant in the terminal."""

    place: ClassVar[str] = "prolocutor.plugins.terminal.chat:chat"
