"""What one service is asked in one call: the agent state spliced from kept bytes, or a payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prolocutor.contracts.store import UtteranceParts
from prolocutor.dialog.plain import decode, encode


class Shown:
    """What services see of a dialog at one moment.

    `state` is the agent state as JSON up to the end of the utterances (`{…,"utterances":[…]`), each
    without `user` and `hypotheses`. `special` names what is not as usual there: the place of an
    utterance, its user if that is not the profile of now, its hypotheses if there are any.
    """

    __slots__ = ("special", "state")

    def __init__(
        self, state: bytes, window: Sequence[UtteranceParts], human: bytes, bot: bytes
    ) -> None:
        self.state = state
        self.special: list[tuple[int, bytes | None, bytes | None]] = []
        for place, said in enumerate(window):
            usual = said.user == (bot if said.by_bot else human)
            if not usual or said.hypotheses != b"[]":
                kept = None if said.hypotheses == b"[]" else said.hypotheses
                self.special.append((place, None if usual else said.user, kept))


class StateRequest:
    """The windowed agent state, and in `tail` (`,…}`) what the stage adds.

    A response selector (`selecting`) finds the hypotheses of the last human utterance a second time
    on top.
    """

    __slots__ = ("_selecting", "_shown", "_tail", "key", "service", "timeout", "turn_id")

    def __init__(
        self,
        service: str,
        turn_id: str,
        key: str,
        timeout: float,
        shown: Shown,
        tail: bytes,
        selecting: bool,
    ) -> None:
        self.service = service
        self.turn_id = turn_id
        self.key = key
        self.timeout = timeout
        self._shown = shown
        self._tail = tail
        self._selecting = selecting

    def value(self) -> dict[str, Any]:
        """Return a fresh decoded copy of the state.

        Within it the two split lists share the utterances of the one, and utterances share the
        profile of their user where it was the same.
        """
        shown = self._shown
        state: dict[str, Any] = decode(shown.state + self._tail)
        human, bot = state["human"], state["bot"]
        humans: list[dict[str, Any]] = []
        bots: list[dict[str, Any]] = []
        for utterance in state["utterances"]:
            if "active_skill" in utterance:
                utterance["user"] = bot
                bots.append(utterance)
            else:
                utterance["user"] = human
                utterance["hypotheses"] = []
                humans.append(utterance)
        state["human_utterances"] = humans
        state["bot_utterances"] = bots
        for place, user, hypotheses in shown.special:
            utterance = state["utterances"][place]
            if user is not None:
                utterance["user"] = decode(user)
            if hypotheses is not None:
                utterance["hypotheses"] = decode(hypotheses)
        if self._selecting:
            state["hypotheses"] = humans[-1]["hypotheses"]
        return state

    def body(self) -> bytes:
        """Return the state as JSON."""
        return encode(self.value())


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
        """Return a fresh decoded copy of the payload."""
        return decode(self._body)

    def body(self) -> bytes:
        """Return the payload as JSON."""
        return self._body
