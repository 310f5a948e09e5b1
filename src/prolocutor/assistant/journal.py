"""Journal: an input is durable before any service runs, a reply is stored before it is spoken."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from prolocutor.assistant.feed import row_of_input, rows_of_reply
from prolocutor.assistant.rounds.decision import TurnEffects
from prolocutor.assistant.rounds.secrets import KnownRounds, is_password_input, mask_input
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.store import (
    NO_ROUND,
    AnsweredRequest,
    ArchiveStore,
    NewDialog,
    NewRecord,
    OpenedTurn,
    Store,
    TurnClosing,
    TurnOpening,
)
from prolocutor.dialog import plain, rounds
from prolocutor.dialog.dialog import BotUtterance
from prolocutor.dialog.ids import DialogId, TurnId, UtteranceId, format_time, new_ids
from prolocutor.dialog.inputs import EarlierTurn, OperatorAct, TurnInput
from prolocutor.errors import (
    HandoverConflict,
    NotFound,
    PersonBusy,
    RoundChanged,
    StoreError,
    TakenOver,
)
from prolocutor.observe.trace_context import current_traceparent
from prolocutor.pipeline.engine import Engine
from prolocutor.pipeline.turn import Turn

MAX_DIALOGS: Final = 10_000
"""Dialogs that are remembered, the last ones used."""

log = logging.getLogger(__name__)

T = TypeVar("T")

UNREAD: Final = b""
"""Placeholder for a round not read yet; the store checks the operator's act against its own."""

MAX_LOOKS: Final = 10
"""Times that an input is read again because another replica has changed its dialog."""

_SECRET = b'{"secret":true}'
"""The value stored in place of a secret: a second run does not get the secret."""

INTERRUPTED = {"interrupted": True}
"""Attributes of a reply that closes a turn which was cut off and not run again."""


class _SkillsSoFar(msgspec.Struct):
    """The skills of the bot utterances among the first `length` utterances."""

    length: int
    skills: list[str]


class _SpeakerOf(msgspec.Struct):
    active_skill: str = ""


class SpeakingSkills:
    """Adds to opened turns which skill said each bot utterance before them."""

    def __init__(self, store: ArchiveStore) -> None:
        self._store = store
        self._kept: OrderedDict[DialogId, _SkillsSoFar] = OrderedDict()

    async def add_to(self, opened: OpenedTurn) -> None:
        """Set `opened.active_skills`, oldest first."""
        spoken = self._kept.get(opened.dialog_id)
        if spoken is not None and spoken.length == opened.length:
            opened.active_skills = spoken.skills
        elif opened.length == len(opened.window):
            bodies = [one.body for one in opened.window if one.by_bot]
            opened.active_skills = [_BODY.decode(body).active_skill for body in bodies]
        else:
            opened.active_skills = await self._read(opened)

    def note(self, opened: OpenedTurn, active_skill: str) -> None:
        """Remember a turn that is stored: the words in it, and who said the reply."""
        if opened.active_skills is None:
            return  # it was closed without being run
        skills = [*opened.active_skills, active_skill]
        self._kept[opened.dialog_id] = _SkillsSoFar(opened.length + 2, skills)
        self._kept.move_to_end(opened.dialog_id)
        if len(self._kept) > MAX_DIALOGS:
            self._kept.popitem(last=False)

    async def _read(self, opened: OpenedTurn) -> list[str]:
        dialog = await self._store.dialog(opened.dialog_id)
        earlier = dialog.utterances[: opened.length] if dialog is not None else []
        return [one.active_skill for one in earlier if isinstance(one, BotUtterance)]


_BODY: Final = msgspec.json.Decoder(_SpeakerOf)


class Journal:
    """Opens and closes turns in the store.

    A turn that could not be stored is tried again later. `clock` gives the times at which turns
    begin; `shared`: another process may run a turn again, and continues its trace.
    """

    def __init__(
        self,
        store: Store,
        *,
        engine: Engine,
        clock: Callable[[], float] = time.time,
        shared: bool = False,
    ) -> None:
        prepared = engine.prepared
        self._store = store
        self._clock = clock
        self._shared = shared
        self._rounds = KnownRounds()
        self.speaking = SpeakingSkills(store) if prepared.reads_skills else None
        """The skills that spoke in dialogs, where a formatter reads them."""
        self.in_hand: set[str] = set()
        """The ids of the turns that this process opened and has not stored."""
        self._window = prepared.window
        self._hypotheses = prepared.hypotheses
        self._markdown = prepared.markdown
        self.new_dialog_attributes = plain.encode({"pipeline": prepared.declared})
        self._unstored: dict[str, TurnClosing] = {}

    async def open_turn(
        self, input: TurnInput, turn_id: str | None = None
    ) -> OpenedTurn | AnsweredRequest:
        """Store an input; the person's last turn is stored first if that failed before.

        A password is not stored, so a turn with a password that was cut off does not run again.
        `turn_id` is that of an earlier try.
        """
        if self._unstored:
            await self.settle(input.user)
        ids = new_ids(7)
        if turn_id is not None:
            ids[0] = turn_id
        act = input.operator
        round = UNREAD if act is not None else self._rounds.round(input.user, input.dialog)
        for _ in range(MAX_LOOKS):
            secret = act is None and round != NO_ROUND and is_password_input(round, input)
            opening = self._opening(input, ids, secret, round)
            self.in_hand.add(opening.turn_id)
            try:
                opened = await self._store.open_turn(opening)
            except RoundChanged as changed:
                self.in_hand.discard(opening.turn_id)
                round = changed.round
                if act is not None:
                    check_act(round, act)
                continue
            except BaseException:
                self.in_hand.discard(opening.turn_id)
                raise
            if isinstance(opened, AnsweredRequest):
                self.in_hand.discard(opening.turn_id)
                if opened.reply is None:
                    try:
                        return await self.resume_turn(opened.turn_id)
                    except NotFound:
                        continue  # the turn that was open has just been stored: ask again
            return opened
        raise PersonBusy("others keep changing this dialog; try again")

    def _opening(
        self,
        input: TurnInput,
        ids: Sequence[str],
        secret: bool,
        round: bytes,
    ) -> TurnOpening:
        """Return the opening for an input under a round."""
        now, request_id = self._clock(), input.request_id
        masked = mask_input(input) if secret else input
        turn_id, utt_id, bot_utt_id, human_id, dialog_id, id_, bot_id = ids
        text = plain.encode(masked.text)  # encoded once: for the feed, the digest and the utterance
        attributes = plain.encode(input.attributes)
        words = plain.encode(input.text) if secret else text
        start = _encode_start(input)
        came = attributes if start == b"{}" else attributes + start
        stored = _SECRET if secret else start
        return TurnOpening(
            turn_id=TurnId(turn_id),
            user=input.user,
            dialog_name=input.dialog,
            channel_type=input.channel,
            utt_id=UtteranceId(utt_id),
            bot_utt_id=UtteranceId(bot_utt_id),
            date_time=format_time(now),
            started=now,
            text=masked.text,
            encoded_text=text,
            attributes=attributes,
            message=row_of_input(masked, text, bot_utt_id),
            start=_add_trace(stored) if self._shared else stored,
            round=round,
            request_key=request_id,
            request_hash=None if request_id is None else _digest(words, input.dialog, came),
            window=self._window,
            hypotheses=self._hypotheses,
            new_dialog=NewDialog(
                human_id=human_id,
                dialog_id=DialogId(dialog_id),
                id=id_,
                bot_id=bot_id,
                attributes=self.new_dialog_attributes,
            ),
        )

    async def resume_turn(self, turn_id: TurnId) -> OpenedTurn:
        """Count another attempt at a turn that was cut off; return its state at the start."""
        if turn_id in self.in_hand:
            raise PersonBusy(f"turn {turn_id} is running here")
        self.in_hand.add(turn_id)
        try:
            return await self._store.resume_turn(turn_id, self._window, self._hypotheses)
        except BaseException:
            self.in_hand.discard(turn_id)
            raise

    async def close_turn(
        self, turn: Turn, effects: TurnEffects, lessons: Sequence[NewRecord] = ()
    ) -> TurnResult:
        """Store a turn's additions, effects and lessons; then its reply may be spoken."""
        draft = turn.draft
        opened, reply = draft.opened, draft.final_reply()
        opening = opened.opening
        result = TurnResult(
            turn_id=opening.turn_id,
            dialog_id=opened.dialog_id,
            human_utt_id=opening.utt_id,
            user=opening.user,
            n=opened.feed,
            waiting=effects.waiting,
            reply_state=turn.view.reply_state(),
            turn=turn,
        )
        utterances = turn.view.utterances()
        if effects.stores != "both":
            utterances = [one for one in utterances if one.by_bot == (effects.stores == "said")]
        closing = TurnClosing(
            opened=opened,
            utterances=utterances,
            human=draft.human,
            bot=draft.bot,
            messages=rows_of_reply(reply, opening.bot_utt_id, self._markdown),
            outcome=result.outcome() if opening.request_key is not None else b"",
            closing=effects.closing,
            round=effects.round,
            entries=effects.entries,
            struck=effects.struck,
            previous_reply=draft.previous_reply,
            records=lessons,
        )
        try:
            await self._store.close_turn(closing)
        except TakenOver:
            self.in_hand.discard(opening.turn_id)
            raise
        except StoreError:
            self._unstored[opening.user] = closing
            raise
        self.in_hand.discard(opening.turn_id)
        after = opened.round if effects.round is None else effects.round
        self._rounds.note(opening.user, opening.dialog_name, after)
        if self.speaking is not None and draft.reply is not None:
            self.speaking.note(opened, draft.reply.active_skill)
        return result

    @property
    def unstored(self) -> list[str]:
        """The users with a last turn that could not be stored yet."""
        return list(self._unstored)

    async def settle_all(self) -> None:
        """Try once more to store the turns that could not be stored."""
        for user in self.unstored:
            try:
                await self.settle(user)
            except StoreError as error:
                log.error("the last turn of a person could not be stored: %s", error)

    def forget(self, user: str) -> None:
        """Drop the unstored turn of a person before their deletion."""
        if (unstored := self._unstored.pop(user, None)) is not None:
            self.in_hand.discard(unstored.opened.opening.turn_id)

    async def settle(self, user: str) -> None:
        """Store the person's last turn now if that failed before.

        It is dropped if another replica runs it by now, whose reply counts.
        """
        if self._unstored and user in self._unstored:
            unstored = self._unstored[user]
            try:
                await self._store.close_turn(unstored)
            except TakenOver as error:
                log.warning("a turn that could not be stored is dropped: %s", error)
            if self._unstored.get(user) is unstored:
                del self._unstored[user]
                self.in_hand.discard(unstored.opened.opening.turn_id)


def check_act(round: bytes, act: OperatorAct) -> None:
    """Raise `HandoverConflict` if another operator has the dialog, or this operator has not."""
    now = rounds.decode(round).handover
    by = "" if now is None else now.by
    if by not in ("", act.by):
        raise HandoverConflict(f"{by} has this dialog", field="dialog")
    if not by and act.state != "taken":
        raise HandoverConflict("take the dialog over first", field="dialog")


def opened_input(opened: OpenedTurn) -> TurnInput:
    """Return the input of an opened turn."""
    opening = opened.opening
    came: dict[str, Any] = {} if opening.start == b"{}" else plain.decode(opening.start)
    came.pop("traceparent", None)
    came.pop("secret", None)
    if "retold" in came:
        came["retold"] = msgspec.convert(came["retold"], EarlierTurn)
    if "operator" in came:
        came["operator"] = msgspec.convert(came["operator"], OperatorAct)
    came = {"text": opening.text, "attributes": plain.decode(opening.attributes), **came}
    return TurnInput(
        user=opening.user,
        dialog=opening.dialog_name,
        request_id=opening.request_key,
        channel=opening.channel_type,
        **came,
    )


def is_withheld(opened: OpenedTurn) -> bool:
    """Return whether the input of an opened turn is a secret, which is not stored."""
    start = opened.opening.start
    return start != b"{}" and "secret" in plain.decode(start)


def first_traceparent(opened: OpenedTurn) -> str | None:
    """Return the `traceparent` of the first run of a turn."""
    start = opened.opening.start
    return None if start == b"{}" else plain.decode(start).get("traceparent")


def _encode_start(input: TurnInput) -> bytes:
    """Return the parts of an input, beside its text, that a second run needs."""
    is_plain = input.parsed is None and input.program is None and input.skill is None
    if is_plain and input.operator is None and not input.retold:
        return b"{}"
    came = {
        "parsed": input.parsed,
        "program": input.program,
        "skill": input.skill,
        "retold": input.retold,
        "operator": input.operator,
    }
    return plain.encode({key: value for key, value in came.items() if value is not None})


def _add_trace(start: bytes) -> bytes:
    """Add the turn's `traceparent`, for a second run at another replica."""
    traceparent = current_traceparent()
    if traceparent is None:
        return start
    return plain.encode({**plain.decode(start), "traceparent": traceparent})


def _digest(encoded_text: bytes, dialog: str, came: bytes) -> bytes:
    parts = b"[%b,%b]%b" % (encoded_text, plain.encode(dialog), came)
    return hashlib.blake2b(parts, digest_size=16).digest()
