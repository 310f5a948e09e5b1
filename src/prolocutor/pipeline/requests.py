"""What one service is asked in one call: the agent state spliced from kept bytes, or a payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prolocutor.contracts.store import Said
from prolocutor.dialog import plain
from prolocutor.dialog.agent_state import is_bot


class StateRequest:
    """The windowed agent state and what the stage adds.

    `head` is JSON up to and without the utterances (`{…,`), `tail` the rest (`,…}`). The two split
    lists of utterances are made from the one, never decoded twice. Under `shared` names the
    hypotheses of the last human utterance stand a second time.
    """

    __slots__ = ("_head", "_shows_hypotheses", "_tail", "_utterances", "key", "service", "timeout", "turn_id")

    def __init__(
        self,
        service: str,
        turn_id: str,
        key: str,
        timeout: float,
        head: bytes,
        utterances: Sequence[Said],
        tail: bytes,
        shows_hypotheses: bool,
    ) -> None:
        self.service = service
        self.turn_id = turn_id
        self.key = key
        self.timeout = timeout
        self._head = head
        self._utterances = utterances
        self._tail = tail
        self._shows_hypotheses = shows_hypotheses

    def value(self) -> dict[str, Any]:
        """Give a fresh decoded copy of the state."""
        utterances = b",".join([said.state for said in self._utterances])
        state: dict[str, Any] = plain.decode(
            b'%b"utterances":[%b]%b' % (self._head, utterances, self._tail)
        )
        said = state["utterances"]
        humans = state["human_utterances"] = [u for u in said if not is_bot(u)]
        state["bot_utterances"] = [u for u in said if is_bot(u)]
        if self._shows_hypotheses:
            state["hypotheses"] = humans[-1]["hypotheses"]
        return state

    def body(self) -> bytes:
        """Give the state as JSON."""
        if self._shows_hypotheses:
            return plain.encode(self.value())
        every = self._utterances
        return b'%b"utterances":[%b],"human_utterances":[%b],"bot_utterances":[%b]%b' % (
            self._head,
            b",".join([said.state for said in every]),
            b",".join([said.state for said in every if not said.by_bot]),
            b",".join([said.state for said in every if said.by_bot]),
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
