"""The ledger: what the people of a soak said, what they were told, and what was wrong with it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

import msgspec

MAX_COMPLAINTS: Final = 50
"""After so many it is enough."""


class Answer(msgspec.Struct, frozen=True):
    """What a person was told, and the ids by which the store must have it."""

    dialog_id: str
    utt_id: str
    response: str


class Message(msgspec.Struct):
    """One thing that a person said; `given_up` if they never asked again after the line broke."""

    number: int
    text: str
    key: str
    answer: Answer | None = None
    given_up: bool = False


class Ledger(msgspec.Struct):
    """All that was said by everybody, as the people themselves remember it."""

    people: dict[str, list[Message]] = {}
    counts: Counter[str] = msgspec.field(default_factory=Counter)
    complaints: list[str] = []

    def said(self, person: str, number: int, text: str) -> Message:
        """Note what a person is about to say."""
        message = Message(number, text, f"{person}-{number}")
        self.people.setdefault(person, []).append(message)
        return message

    def told(self, person: str, message: Message, body: dict[str, Any]) -> None:
        """Note a reply; it has to be the one that was given before, if there was one."""
        answer = msgspec.convert(body, Answer)
        if message.answer is None:
            message.answer = answer
        elif message.answer != answer:
            self.complain(f"{person} {message.number}: was told {message.answer}, now {answer}")

    def complain(self, what: str) -> None:
        """Note something that must not happen."""
        if not self.is_full:
            self.complaints.append(what)

    @property
    def is_full(self) -> bool:
        """Whether so much went wrong that there is no use in going on."""
        return len(self.complaints) >= MAX_COMPLAINTS

    def write(self, path: Path) -> None:
        """Leave everything in a file for whoever looks for the cause of a fault."""
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1))
