"""The skills that spoke in a dialog so far, for formatters that read them all.

A turn loads a window of the dialog alone. So that its cost does not grow, the skills are remembered
here; the whole dialog is read once, when it is longer than the window and not remembered.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from prolocutor.contracts.store import ArchiveStore, OpenedTurn
from prolocutor.dialog.dialog import BotUtterance
from prolocutor.dialog.ids import DialogId

MAX_DIALOGS: Final = 10_000
"""Dialogs that are remembered, the last ones used."""


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
            said = [one.body for one in opened.window if one.by_bot]
            opened.active_skills = [_BODY.decode(body).active_skill for body in said]
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
        said = dialog.utterances[: opened.length] if dialog is not None else []
        return [one.active_skill for one in said if isinstance(one, BotUtterance)]


_BODY: Final = msgspec.json.Decoder(_SpeakerOf)
