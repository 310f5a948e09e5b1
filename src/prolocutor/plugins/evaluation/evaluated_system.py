"""The evaluated system, as the runner sees it: dialogs that answer messages."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

Message = Mapping[str, Any]


class SystemReply(msgspec.Struct):
    """The answer to one message: the act, which agent gave it, how many services were called."""

    act: dict[str, Any]
    by: str = ""
    calls: int | None = None


def set_seed(seed: int) -> None:
    """Set the seed of Python's generator, and of NumPy's if it is loaded."""
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed % 2**32)


class SystemDialog(Protocol):
    """An evaluated system in one dialog."""

    async def answer(self, message: Message) -> SystemReply:
        """Answer one message of the teacher."""


class EvaluatedSystem(Protocol):
    """What is evaluated; several dialogs may be open at once."""

    async def begin(self, seed: int) -> SystemDialog:
        """Open a new dialog."""

    def end(self, respondent: SystemDialog, *, stuck: bool) -> None:
        """Close a dialog; `stuck` if an answer was given up that may still come."""
