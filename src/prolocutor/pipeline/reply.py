"""Reply: what is going to be said, as far as it has come."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.pipeline.candidates import Slots

ITSELF: Final = "assistant"
"""What `Reply.by` is where the assistant speaks for itself."""

_RICH: Final = frozenset({"messages", "ask"})


class Reply(msgspec.Struct, kw_only=True):
    """The reply as far as it has come; `by` says which way it came about.

    `messages` and `ask` stand in the attributes as well. `silent`: it is not to be spoken.
    """

    by: str
    text: str
    orig_text: str
    active_skill: str
    confidence: float
    chosen: list[str]
    attributes: bytes
    annotations: Slots
    messages: list[dict[str, Any]] = []
    ask: str | None = None
    silent: bool = False

    @property
    def says_something(self) -> bool:
        """Whether there is anything to be spoken."""
        return bool(self.text.strip() or self.messages)


def attributes_of(
    own: dict[str, Any] | None, messages: list[dict[str, Any]] | None, ask: str | None
) -> dict[str, Any]:
    """Return the attributes of a reply: what there is of messages and ask stands among them."""
    if not own and not messages and ask is None:
        return {}
    attributes = {key: value for key, value in (own or {}).items() if key not in _RICH}
    if messages:
        attributes["messages"] = messages
    if ask is not None:
        attributes["ask"] = ask
    return attributes


def rewritten(messages: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return messages whose first text is another."""
    for place, message in enumerate(messages):
        if message["type"] == "text":
            return [*messages[:place], {**message, "text": text}, *messages[place + 1 :]]
    return messages
