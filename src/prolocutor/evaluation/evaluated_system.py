"""Subjects: who is evaluated, seen from the one who asks."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

Message = Mapping[str, Any]


class SystemReply(msgspec.Struct):
    """What came back for one message: the act, who answered, how many services were called."""

    act: dict[str, Any]
    by: str = ""
    calls: int | None = None


def set_seed(seed: int) -> None:
    """Let chance begin anew, in Python's own generator and in NumPy's if that is loaded."""
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed % 2**32)


class SystemDialog(Protocol):
    """A subject in one dialog."""

    async def answer(self, message: Message) -> SystemReply:
        """Answer one message of the teacher."""


class EvaluatedSystem(Protocol):
    """Who is evaluated; several dialogs may be open at once."""

    async def begin(self, seed: int) -> SystemDialog:
        """Open a dialog in which all is new."""

    def end(self, respondent: SystemDialog, *, stuck: bool) -> None:
        """Close a dialog; `stuck` if an answer of it is still awaited by nobody."""
