"""Notes: the operators' tags and comment of a turn, and data sets of turns by tag."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance
from prolocutor.dialog.ids import DialogId
from prolocutor.errors import NotFound
from prolocutor.plugins.console.resources import BASE
from prolocutor.plugins.console.turn_endpoints import ReplyEndpoints, TurnPath
from prolocutor.plugins.console.turn_notes import Tag, TurnNote
from prolocutor.web.operations import Operation, OperatorWrite, TypedRequest

CONTEXT_UTTERANCES: Final = 4
"""Utterances before a turn that a data set has beside it."""
JSON_LINES: Final = "application/x-ndjson"


class NewNote(msgspec.Struct, frozen=True):
    """An operator's note on a turn; without tags and comment the note is removed."""

    tags: Annotated[list[Tag], Meta(max_length=8)] = []
    comment: Annotated[str, Meta(max_length=4000)] = ""


class NoteList(msgspec.Struct, frozen=True):
    """All tags with their numbers of turns, the most frequent first."""

    tags: dict[str, int]


class DataSetParams(msgspec.Struct, frozen=True):
    """The parameters of a request for a data set: the turns that have a tag."""

    tag: Tag


class NoteEndpoints:
    """Takes notes, lists their tags, and makes data sets of the turns with a tag."""

    def __init__(self, turns: ReplyEndpoints, assistant: Assistant) -> None:
        self._store, self._labels = assistant.store, assistant.labels
        self._turns = turns
        self._notes = turns.notes
        put = OperatorWrite(self.put_note, errors=[NotFound])
        data = Operation(self.show_data_set, produces=JSON_LINES, errors=[NotFound])
        self.routes = [
            Route("PUT", f"{BASE}/turns/{{utt_id}}/note", put, "operators"),
            Route("GET", f"{BASE}/tags", Operation(self.list_tags), "operators"),
            Route("GET", f"{BASE}/data-set", data, "operators"),
        ]

    async def put_note(self, request: TypedRequest[TurnPath, NewNote]) -> TurnNote:
        """Tag a turn, and comment on it."""
        turn = await self._turns.kept(request.params.utt_id)
        tags = [" ".join(tag.split()) for tag in request.body.tags]
        note = TurnNote(
            utt_id=turn.utt_id,
            dialog_id=turn.dialog_id,
            tags=list(dict.fromkeys(tag for tag in tags if tag)),
            comment=request.body.comment.strip(),
            by=request.visitor.name,
            at=time.time(),
        )
        await self._notes.put(note)
        return note

    async def list_tags(self, request: TypedRequest[None, None]) -> NoteList:
        """List the tags of turns."""
        tags = Counter(tag for note in await self._notes.all() for tag in note.tags)
        return NoteList(dict(tags.most_common(200)))

    async def show_data_set(self, request: TypedRequest[DataSetParams, None]) -> HttpResponse:
        """Return the turns with a tag as JSON lines, for `evaluate` and `train`.

        Each turn is an episode: the turns before it, without labels, and the turn itself. Its label
        is the operator's answer in words, else the original reply.
        """
        lines = await self.data_set(request.params.tag)
        return HttpResponse(b"".join(lines), content_type=JSON_LINES)

    async def data_set(self, tag: str) -> list[bytes]:
        """Return the lines of a data set; raise `NotFound` for a tag without turns."""
        notes = await self._notes.all(tag)
        corrected = {
            turn.utt_id: label for label in await self._labels.all_labels() for turn in label.turns
        }
        lines: list[bytes] = []
        for note in notes:
            dialog = await self._store.dialog(DialogId(note.dialog_id))
            label = corrected.get(note.utt_id)
            right = {"labels": [label.answer]} if label is not None and label.answer else {}
            more = {**right, **({"agents": label.agents} if label is not None else {})}
            lines += [] if dialog is None else _episode(note, dialog.utterances, more)
        if not lines:
            raise NotFound(f"no turn has the tag {tag!r}", field="tag")
        return lines


def _episode(
    note: TurnNote, said: Sequence[HumanUtterance | BotUtterance], more: dict[str, Any]
) -> list[bytes]:
    """Return a turn of a dialog, and the turns before it, as lines of an episode."""
    place = next((n for n, one in enumerate(said) if one.utt_id == note.utt_id), 0)
    asked, reply = said[place - 1] if place else None, said[place]
    if not isinstance(asked, HumanUtterance) or not isinstance(reply, BotUtterance):
        return []  # nobody asked anything
    lines = [
        {"text": one.text, "dialog_id": note.dialog_id, "episode_done": False}
        for one in said[max(0, place - 1 - CONTEXT_UTTERANCES) : place - 1]
        if isinstance(one, HumanUtterance)
    ]
    whole = {
        "text": asked.text,
        "labels": [reply.text],
        "domain": reply.active_skill,
        "dialog_id": note.dialog_id,
        "utt_id": note.utt_id,
        "episode_done": True,
    }
    return [plain.encode(one) + b"\n" for one in [*lines, whole | more]]
