"""Handovers: turns of dialogs that an operator has taken over, and turns of operators.

The round of a dialog names its operator, so it is stored with the turns that change it. Words and
actions of operators are turns without words of the person: they have only a reply, a bot utterance
of the skill `operator` with `{by, state}` in its `attributes.handover`. The person's words during a
handover are stored without a reply, and no agent is asked.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from prolocutor.assistant.assistant_settings import HandoverSettings
from prolocutor.assistant.duty_webhook import DutyWebhook
from prolocutor.assistant.rounds.decision import HandoverChange, TurnEffects
from prolocutor.assistant.rounds.interpreter import read_round
from prolocutor.assistant.sharing import is_shared
from prolocutor.contracts.store import NO_ROUND, AgendaEntry, OpenedTurn, Store
from prolocutor.dialog import plain, rounds
from prolocutor.dialog.inputs import OPERATOR, DirectReply, OperatorAct, TurnInput, TurnStart
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import NOTHING, Handover, Round
from prolocutor.errors import StoreError
from prolocutor.pipeline.engine import Engine
from prolocutor.pipeline.turn import Turn

log = logging.getLogger(__name__)

EXPIRY_SKILL: Final = "@handover"
"""Reserved skill name of the agenda entries that end idle handovers."""

HANDOVER_RECORDS: Final = "handover"
"""The kind of the records that list dialogs which wait for a person or are taken over."""

HandoverTurn = tuple[Turn, TurnEffects]
"""A turn in which no service was asked, and its effects."""


class ListedDialog(msgspec.Struct, frozen=True):
    """A dialog that waits for an operator or is taken over."""

    user: str
    dialog: str


class Handovers:
    """Makes the turns of handed over dialogs, and passes changes on."""

    def __init__(
        self,
        store: Store,
        *,
        engine: Engine,
        settings: HandoverSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._records = store
        self._engine = engine
        self._settings = settings
        self._webhook: DutyWebhook | None = None
        if settings.webhook:
            self._webhook = DutyWebhook(settings.webhook, store, is_shared=is_shared(store))

    def make_turn(self, opened: OpenedTurn, input: TurnInput) -> HandoverTurn | None:
        """Return the turn of an input for which no service is called, None for other inputs."""
        if input.operator is not None:
            return self._operator_turn(opened, input, input.operator)
        if opened.round == NO_ROUND:
            return None
        now = read_round(opened).handover
        if now is None or not (now.by or self._settings.waiting == "silent"):
            return None
        turn = self._engine.make_unasked_turn(opened, TurnStart(input=input))
        turn.draft.say_own_words(DirectReply(), {"handover": _mark(now.by, _handover_state(now))})
        change = HandoverChange(state="heard", by=now.by, text=input.text)
        entries = [self._ending(opened)]
        return turn, TurnEffects(stores="heard", entries=entries, handover=change)

    def mark_opened(self, opened: OpenedTurn) -> OpenedTurn:
        """Return an opened turn, with the mark of a handover that ended before it, if any."""
        if opened.round == NO_ROUND or (ended := read_round(opened).ended) is None:
            return opened
        attributes = plain.decode(opened.opening.attributes)
        attributes.setdefault("handover", _mark(ended.by, "given", "idle"))
        encoded = plain.encode(attributes)
        opening = msgspec.structs.replace(opened.opening, attributes=encoded)
        return msgspec.structs.replace(opened, opening=opening)

    def limit_waiting(self, opened: OpenedTurn, effects: TurnEffects) -> TurnEffects:
        """Return the effects of a turn that calls an operator, with a limit to the waiting."""
        entries = [*effects.entries, self._ending(opened)]
        return msgspec.structs.replace(effects, entries=entries)

    def end_message(self, handover: Handover) -> JsonObject:
        """Return the message for a dialog that goes back after a silence."""
        text = self._settings.given if handover.by else self._settings.missed
        mark = _mark(handover.by, "given", "idle")
        return {"type": "text", "text": text.replace("{by}", handover.by), "handover": mark}

    async def record_expiry(self, entry: AgendaEntry, handover: Handover) -> None:
        """Record that a dialog has gone back to the assistant."""
        user, dialog = entry.user, entry.dialog_name
        id_ = await self._records.active_dialog_id(user, dialog) or ""
        change = HandoverChange(state="given", by=handover.by, note="idle")
        await self._note(id_, user, dialog, change)

    async def forget(self, user: str, dialog_id: str | None = None) -> None:
        """Remove a person's dialogs, or a single dialog, from the list."""
        for id_, body in (await self._records.records("", HANDOVER_RECORDS)).items():
            if _decode_listed(body).user == user and dialog_id in (None, id_):
                await self._records.delete_record("", HANDOVER_RECORDS, id_)
        if dialog_id is None and self._webhook is not None:
            await self._webhook.forget(user)

    def start(self) -> None:
        """Send the webhook the changes that an ended process left."""
        if self._webhook is not None:
            self._webhook.start()

    async def aclose(self) -> None:
        """Send the webhook the waiting changes."""
        if self._webhook is not None:
            await self._webhook.aclose()

    async def note(self, turn: Turn, change: HandoverChange) -> None:
        """Update the list of handed over dialogs, and tell the webhook, after a stored turn."""
        opened = turn.draft.opened
        opening = opened.opening
        await self._note(opened.dialog_id, opening.user, opening.dialog_name, change)

    async def _note(self, id_: str, user: str, dialog: str, change: HandoverChange) -> None:
        try:
            if change.state in ("waits", "taken"):
                listed = plain.encode(ListedDialog(user, dialog))
                await self._records.put_record("", HANDOVER_RECORDS, id_, listed)
            elif change.state == "given":
                await self._records.delete_record("", HANDOVER_RECORDS, id_)
        except StoreError as error:
            log.warning("the list of handed over dialogs is not up to date: %s", error)
        if self._webhook is not None:
            about = {"dialog_id": id_, "user": user, "dialog": dialog, "at": self._clock()}
            await self._webhook.send(about | msgspec.to_builtins(change))

    def _ending(self, opened: OpenedTurn) -> AgendaEntry:
        """Return the agenda entry that gives a dialog back after a silence."""
        opening = opened.opening
        return AgendaEntry(
            user=opening.user,
            dialog_name=opening.dialog_name,
            skill=EXPIRY_SKILL,
            key=opening.dialog_name,
            due=self._clock() + self._settings.idle,
            body=b"{}",
        )

    def _operator_turn(
        self, opened: OpenedTurn, input: TurnInput, act: OperatorAct
    ) -> HandoverTurn:
        """Return the turn in which an operator takes over, speaks or gives back."""
        opening = opened.opening
        turn = self._engine.make_unasked_turn(opened, TurnStart(input=input))
        marks = {"handover": _mark(act.by, act.state, act.note)}
        turn.draft.say(OPERATOR, OPERATOR, act.text, {}, marks, confidence=1.0)
        turn.draft.final_reply().silent = True  # its row of the feed is that of the input
        change = HandoverChange(state=act.state, by=act.by, text=act.text, note=act.note)
        if act.state == "given":
            struck = [(EXPIRY_SKILL, opening.dialog_name)]
            effects = TurnEffects(round=rounds.encode(NOTHING), struck=struck)
        else:
            before = read_round(opened).handover
            since = before.since if before is not None and before.by == act.by else opening.started
            after = Round(handover=Handover(by=act.by, since=since))
            entries = [self._ending(opened)]
            effects = TurnEffects(round=rounds.encode(after), entries=entries)
        return turn, msgspec.structs.replace(effects, stores="said", handover=change)


def _decode_listed(body: bytes) -> ListedDialog:
    return msgspec.json.decode(body, type=ListedDialog)


def _handover_state(handover: Handover) -> str:
    return "taken" if handover.by else "waits"


def _mark(by: str, state: str, note: str = "") -> dict[str, Any]:
    """Return the handover's mark for the attributes of an utterance."""
    return {"by": by, "state": state} | ({"note": note} if note else {})
