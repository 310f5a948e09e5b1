"""The actions of operators: talk to people in place of services, and label turns."""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

import msgspec

from prolocutor.assistant.assistant_settings import HandoverSettings
from prolocutor.assistant.handovers import HANDOVER_RECORDS, ListedDialog
from prolocutor.assistant.sharing import Place
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_runner import TurnRunner
from prolocutor.assistant.turns import Turns, check_name, check_words, checked_dialog
from prolocutor.contracts.store import Store
from prolocutor.dialog import plain, rounds
from prolocutor.dialog.inputs import OperatorAct, TurnInput
from prolocutor.dialog.rounds import Handover
from prolocutor.errors import BadInput, NotFound

log = logging.getLogger(__name__)


KIND: Final = "label"

PAGE_ROWS = 100


class LabelledTurn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A labelled turn: the id of its reply, the `user`, their words, and the agents' answers."""

    utt_id: str
    user: str
    text: str
    answers: dict[str, str] = {}


class OperatorLabel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A label: the right `agents` (none: nobody) for the same question in several turns.

    `answer` are the words that would have been right, "" where none were given. `by` is the
    operator's name, `at` UNIX seconds.
    """

    id: str
    at: float
    by: str
    agents: list[str]
    turns: list[LabelledTurn]
    answer: str = ""
    sign: str = ""


class OperatorLabels:
    """The labels of an assistant. A person's texts are removed from them with the person."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.deletions = 0
        """The number of deletions: data read before the last one may be deleted data."""

    async def all_labels(self) -> list[OperatorLabel]:
        """Return all labels, the oldest first; an unreadable label is logged and left out."""
        labels = []
        for key, body in (await self._store.records("", KIND)).items():
            try:
                labels.append(msgspec.json.decode(body, type=OperatorLabel))
            except msgspec.MsgspecError as error:
                log.error("the label %s is left out: %s", key, error)
        return labels

    async def find_label(self, utt_id: str) -> OperatorLabel | None:
        """Return the label that counts for the turn of a reply, None without a label."""
        labels = await self.all_labels()
        return next((one for one in labels if any(t.utt_id == utt_id for t in one.turns)), None)

    async def add(self, label: OperatorLabel) -> None:
        """Store a label, in place of the label with this id."""
        await self._store.put_record("", KIND, label.id, plain.encode(label))

    async def delete(self, id_: str) -> None:
        """Delete a label; raise `NotFound` for an unknown id."""
        if not await self._store.delete_record("", KIND, id_):
            raise NotFound(f"no label has the id {id_!s:.80}", field="id")

    async def forget(self, user: str) -> None:
        """Remove a person's texts; a label that is left without words goes too."""
        self.deletions += 1
        for label in await self.all_labels():
            await self._leave(label, [one for one in label.turns if one.user != user])

    async def forget_deleted(self, user: str | None) -> bool:
        """Remove deleted turns, of a single person if named; return whether any was."""
        self.deletions += 1
        changed = False
        for label in await self.all_labels():
            left = [
                one
                for one in label.turns
                if user not in (None, one.user) or await self._store.find_owner(one.utt_id)
            ]
            changed |= await self._leave(label, left)
        return changed

    async def _leave(self, label: OperatorLabel, left: list[LabelledTurn]) -> bool:
        """Leave some turns of a label, or nothing; return whether that changed it."""
        if not left:
            await self._store.delete_record("", KIND, label.id)
        elif len(left) < len(label.turns):
            await self.add(msgspec.structs.replace(label, turns=left))
        return len(left) < len(label.turns)


class HandedOver(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog that waits for a person (`by` is "") or is taken over, and since when."""

    dialog_id: str
    user: str
    dialog: str
    handover: Handover


class OperatorDesk:
    """Takes dialogs over and gives them back; each falls between two turns of its person."""

    def __init__(
        self, store: Store, turns: Turns, runner: TurnRunner, settings: HandoverSettings,
        max_text: int,
    ) -> None:  # fmt: skip
        self._store = store
        self._turns = turns
        self._runner = runner
        self._settings = settings
        self._max_text = max_text

    async def take(
        self, user: str, dialog: str | None = None, *, by: str, request_id: str | None = None
    ) -> Handover:
        """Take a dialog over: from the next input on nobody is asked, until `give`.

        The turn that runs is finished first; an open ask is over. `HandoverConflict` if another
        operator has the dialog, `NotFound` if there is none.
        """
        text = self._settings.taken.replace("{by}", by)
        act = OperatorAct(state="taken", by=by, text=text)
        await self._act(user, dialog, act, request_id)
        return await self._now(user, dialog)

    async def say(
        self,
        text: str,
        user: str,
        dialog: str | None = None,
        *,
        by: str,
        request_id: str | None = None,
    ) -> TurnResult:
        """Say something to a person whose dialog this operator has taken over."""
        check_words(text, self._max_text)
        if not text.strip():
            raise BadInput("there is nothing to say", field="text")
        act = OperatorAct(state="said", by=by, text=text)
        return await self._act(user, dialog, act, request_id)

    async def give(self, user: str, dialog: str | None = None, *, by: str, note: str = "") -> None:
        """Return a dialog to the assistant; `note` is for its services to read."""
        check_words(note, self._max_text)
        text = self._settings.given.replace("{by}", by)
        act = OperatorAct(state="given", by=by, text=text, note=note)
        await self._act(user, dialog, act, None)

    async def handover(self, user: str, dialog: str | None = None) -> Handover | None:
        """Return the handover of a dialog that is taken over or waits for an operator, or None."""
        return rounds.decode(await self._store.round(user, checked_dialog(dialog))).handover

    async def list_handovers(self) -> list[HandedOver]:
        """Return the dialogs that wait for a person or are taken over, the longest first."""
        handovers = []
        for id_, body in (await self._store.records("", HANDOVER_RECORDS)).items():
            one = msgspec.json.decode(body, type=ListedDialog)
            now = await self.handover(one.user, one.dialog)
            if now is None or await self._store.active_dialog_id(one.user, one.dialog) != id_:
                await self._store.delete_record("", HANDOVER_RECORDS, id_)
            else:
                handovers.append(
                    HandedOver(dialog_id=id_, user=one.user, dialog=one.dialog, handover=now)
                )
        return sorted(handovers, key=lambda one: one.handover.since)

    async def find(self, dialog_id: str) -> tuple[str, str]:
        """Return the user and the name of an active dialog; raise `NotFound` for an unknown id."""
        user = await self._store.find_owner(dialog_id)
        name = None if user is None else await self._dialog_name(user, dialog_id)
        if user is None or name is None:
            raise NotFound(f"no active dialog has the id {dialog_id!s:.80}", field="dialog_id")
        return user, name

    async def _act(
        self,
        user: str,
        dialog: str | None,
        act: OperatorAct,
        request_id: str | None,
    ) -> TurnResult:
        check_name(user, "a user", "user_id")
        check_name(act.by, "an operator's name", "by")
        if request_id is not None:
            check_name(request_id, "a request id", "request_id")
        name = checked_dialog(dialog)
        input = TurnInput("", user, name, {}, request_id, channel="operator", operator=act)
        return await self._turns.enter(user, partial(self._act_in_turn, input, act))

    async def _act_in_turn(
        self, input: TurnInput, act: OperatorAct, place: Place | None = None
    ) -> TurnResult:
        if await self._store.active_dialog_id(input.user, input.dialog) is None:
            raise NotFound(f"this person has no dialog '{input.dialog!s:.80}'", field="dialog")
        return await self._runner.run(input, place=place)

    async def _now(self, user: str, dialog: str | None) -> Handover:
        return await self.handover(user, dialog) or Handover()

    async def _dialog_name(self, user: str, dialog_id: str) -> str | None:
        """Return the name of a dialog: its id stands in the person's feed beside it."""
        if await self._store.active_dialog_id(user) == dialog_id:
            return "main"
        end = await self._store.feed_end(user)
        while end > 0:
            after = max(0, end - PAGE_ROWS)
            for row in await self._store.feed(user, after, PAGE_ROWS):
                if row.dialog_id == dialog_id:
                    active = await self._store.active_dialog_id(user, row.dialog_name)
                    return row.dialog_name if active == dialog_id else None
            end = after
        return None
