"""What one service is asked in one call: the agent state spliced from kept bytes, or a payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prolocutor.contracts.store import Said
from prolocutor.dialog import plain


class StateRequest:
    """The windowed agent state and what the stage adds.

    `shown` is JSON up to the end of the utterances (`{…,"utterances":[…]`), each without `user` and
    `hypotheses`, which stand in `window`; `tail` is the rest (`,…}`). A response selector finds the
    hypotheses of the last human utterance a second time on top.
    """

    __slots__ = ("_selecting", "_shown", "_tail", "_window", "key", "service", "timeout", "turn_id")

    def __init__(
        self,
        service: str,
        turn_id: str,
        key: str,
        timeout: float,
        shown: bytes,
        window: Sequence[Said],
        tail: bytes,
        selecting: bool,
    ) -> None:
        self.service = service
        self.turn_id = turn_id
        self.key = key
        self.timeout = timeout
        self._shown = shown
        self._window = window
        self._tail = tail
        self._selecting = selecting

    def value(self) -> dict[str, Any]:
        """Give a fresh decoded copy of the state.

        Within it the two split lists share the utterances of the one, and utterances share the
        profile of their user where it was the same.
        """
        state: dict[str, Any] = plain.decode(self._shown + self._tail)
        users: dict[bytes, dict[str, Any]] = {}
        humans: list[dict[str, Any]] = []
        bots: list[dict[str, Any]] = []
        for utterance, said in zip(state["utterances"], self._window, strict=True):
            user = users.get(said.user)
            if user is None:
                user = users[said.user] = plain.decode(said.user)
            utterance["user"] = user
            if said.by_bot:
                bots.append(utterance)
            else:
                kept = said.hypotheses
                utterance["hypotheses"] = [] if kept == b"[]" else plain.decode(kept)
                humans.append(utterance)
        state["human_utterances"], state["bot_utterances"] = humans, bots
        if self._selecting:
            state["hypotheses"] = humans[-1]["hypotheses"]
        return state

    def body(self) -> bytes:
        """Give the state as JSON."""
        return plain.encode(self.value())


class PayloadRequest:
    """What a formatter made of the agent state."""

    __slots__ = ("_body", "key", "service", "timeout", "turn_id")

    def __init__(self, service: str, turn_id: str, key: str, timeout: float, body: bytes) -> None:
        self.service = service
        self.turn_id = turn_id
        self.key = key
        self.timeout = timeout
        self._body = body

    def value(self) -> Any:
        """Give a fresh decoded copy of the payload."""
        return plain.decode(self._body)

    def body(self) -> bytes:
        """Give the payload as JSON."""
        return self._body
