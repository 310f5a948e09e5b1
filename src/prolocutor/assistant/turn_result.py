"""TurnResult: the reply of a turn, for its callers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from prolocutor.contracts.observer import TurnRecord
from prolocutor.dialog import plain
from prolocutor.dialog.agent_state import bot_utterance_from_state, hypothesis_from_state
from prolocutor.dialog.dialog import BotUtterance, Hypothesis, SpokenReply
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.pipeline.turn import Turn

_SPOKEN: Final = msgspec.json.Decoder(SpokenReply)


class TurnResult:
    """The reply to an input and how it came about; `repeated` if it was stored before.

    `n` is the number of the feed row of the person's words; the rows of the reply follow, the
    last of them with a closing. `waiting` is the open ask from now on. A repeated result knows
    no hypotheses, annotations or record.
    """

    def __init__(
        self,
        *,
        turn_id: str,
        dialog_id: str,
        human_utt_id: str,
        user: str,
        reply_state: bytes,
        n: int = 0,
        waiting: PendingAsk | None = None,
        turn: Turn | None = None,
    ) -> None:
        self.turn_id = turn_id
        self.dialog_id = dialog_id
        self.human_utt_id = human_utt_id
        self.user = user
        self.reply_state = reply_state
        self.n = n
        self.waiting = waiting
        self.make_record: Callable[[], TurnRecord] | None = None
        """Makes the record of the turn when it is first read."""
        self.repeated = turn is None
        self.turn = turn
        """The turn that ran; None where the result is repeated."""
        self._spoken: SpokenReply | None = None
        self._state: JsonObject | None = None
        self._reply: BotUtterance | None = None
        self._record: TurnRecord | None = None

    @property
    def record(self) -> TurnRecord | None:
        """The record of the turn; None where the result is repeated."""
        if self._record is None and self.make_record is not None:
            self._record = self.make_record()
        return self._record

    @property
    def spoken(self) -> SpokenReply:
        """The doors' view of the bot utterance."""
        if self._spoken is None:
            self._spoken = _SPOKEN.decode(self.reply_state)
        return self._spoken

    @property
    def state(self) -> JsonObject:
        """The bot utterance's agent state."""
        if self._state is None:
            self._state = plain.decode(self.reply_state)
        return self._state

    @property
    def reply(self) -> BotUtterance:
        """The bot utterance."""
        if self._reply is None:
            self._reply = bot_utterance_from_state(self.state)
        return self._reply

    @property
    def ask(self) -> str | None:
        """The kind of value that is asked for from now on."""
        return self.waiting.ask if self.waiting is not None else None

    @property
    def is_failure(self) -> bool:
        """Whether nobody answered, and a service that was asked failed or was late."""
        if self.turn is None or self.spoken.active_skill:
            return False
        return any(one.failed for one in self.turn.records())

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """All hypotheses, in declared order of their skills."""
        return [hypothesis_from_state(one) for one in self.hypothesis_states]

    @property
    def hypothesis_states(self) -> list[JsonObject]:
        """The agent state of all hypotheses."""
        return self.turn.draft.hypotheses() if self.turn else []

    @property
    def annotations(self) -> JsonObject:
        """The annotations of the human utterance."""
        return self.turn.draft.annotations() if self.turn else {}

    def outcome(self) -> bytes:
        """Return the outcome for `from_outcome`; it is stored for a request that is sent again."""
        front = plain.encode(
            {
                "turn_id": self.turn_id,
                "dialog_id": self.dialog_id,
                "human_utt_id": self.human_utt_id,
                "user": self.user,
                "n": self.n,
                "waiting": self.waiting,
            }
        )
        return b'%b,"reply":%b}' % (front[:-1], self.reply_state)

    @classmethod
    def from_outcome(cls, outcome: bytes) -> TurnResult:
        """Read a stored outcome."""
        state = plain.decode(outcome)
        reply, waiting = state.pop("reply"), state.pop("waiting", None)
        return cls(
            **state,
            waiting=msgspec.convert(waiting, PendingAsk | None),
            reply_state=plain.encode(reply),
        )
