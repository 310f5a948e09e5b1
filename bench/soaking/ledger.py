"""Ledger: what the simulated users of a soak sent, what they received, and what was wrong."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

import msgspec

MAX_FINDINGS: Final = 50
"""After so many findings the soak ends."""


class ReceivedReply(msgspec.Struct, frozen=True):
    """A reply that a user received, and the ids by which the store must have it."""

    dialog_id: str
    utt_id: str
    response: str


class SentMessage(msgspec.Struct):
    """One input of a user; `given_up` if it was not sent again after the connection broke."""

    number: int
    text: str
    key: str
    answer: ReceivedReply | None = None
    given_up: bool = False


class Ledger(msgspec.Struct):
    """All inputs and replies, as the users saw them."""

    people: dict[str, list[SentMessage]] = {}
    counts: Counter[str] = msgspec.field(default_factory=Counter)
    complaints: list[str] = []

    def sent(self, person: str, number: int, text: str) -> SentMessage:
        """Record an input before it is sent."""
        message = SentMessage(number, text, f"{person}-{number}")
        self.people.setdefault(person, []).append(message)
        return message

    def received(self, person: str, message: SentMessage, body: dict[str, Any]) -> None:
        """Record a reply; it must be the one that was received before, if there was one."""
        answer = msgspec.convert(body, ReceivedReply)
        if message.answer is None:
            message.answer = answer
        elif message.answer != answer:
            self.complain(f"{person} {message.number}: received {message.answer}, now {answer}")

    def complain(self, what: str) -> None:
        """Record something that must not happen."""
        if not self.is_full:
            self.complaints.append(what)

    @property
    def is_full(self) -> bool:
        """Whether so much went wrong that the soak ends."""
        return len(self.complaints) >= MAX_FINDINGS

    def write(self, path: Path) -> None:
        """Write everything to a file, to find the cause of a fault."""
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1))
