"""What one service is asked in one call: the agent state spliced from kept bytes, or a payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prolocutor.contracts.store import Said
from prolocutor.dialog import plain


class StateRequest:
    """The windowed agent state and what the stage adds.

    `shown` is JSON up to the end of the utterances (`{…,"utterances":[…]`), `tail` the rest
    (`,…}`). The two split lists of utterances are made from the one, never decoded twice; a
    response selector finds the hypotheses of the last human utterance a second time on top.
    """

    __slots__ = ("_selecting", "_shown", "_tail", "_window", "key", "service", "timeout", "turn_id")

    def __init__(
        self,
        service: str,
        turn_id: str,
        key: str,
        timeout: float,
        shown: bytes,
        tail: bytes,
        window: Sequence[Said],
        selecting: bool,
    ) -> None:
        self.service = service
        self.turn_id = turn_id
        self.key = key
        self.timeout = timeout
        self._shown = shown
        self._tail = tail
        self._window = window
        self._selecting = selecting

    def value(self) -> dict[str, Any]:
        """Give a fresh decoded copy of the state."""
        state: dict[str, Any] = plain.decode(self._shown + self._tail)
        said = state["utterances"]
        humans = state["human_utterances"] = [u for u in said if "active_skill" not in u]
        state["bot_utterances"] = [u for u in said if "active_skill" in u]
        if self._selecting:
            state["hypotheses"] = humans[-1]["hypotheses"]
        return state

    def body(self) -> bytes:
        """Give the state as JSON."""
        if self._selecting:
            return plain.encode(self.value())
        return b'%b,"human_utterances":[%b],"bot_utterances":[%b]%b' % (
            self._shown,
            b",".join([said.state for said in self._window if not said.by_bot]),
            b",".join([said.state for said in self._window if said.by_bot]),
            self._tail,
        )


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
