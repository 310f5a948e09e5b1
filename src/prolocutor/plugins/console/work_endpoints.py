"""Endpoints of the work list, and of operators' labels."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.operator_desk import LabelledTurn, OperatorLabel
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse
from prolocutor.contracts.pairing import Card
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput, LabelConflict, NotFound
from prolocutor.names import suggest
from prolocutor.plugins.console.paging import Cursor, CursorCodec, Limit
from prolocutor.plugins.console.resources import BASE
from prolocutor.plugins.console.turn_notes import GivenLabel, given_label
from prolocutor.plugins.console.work_answers import OfferedAnswer, WorkAnswers
from prolocutor.plugins.console.work_list import FlaggedTurn, WorkGroup, WorkList, WorkSign
from prolocutor.web.operations import Operation, OperatorWrite, TypedRequest

JSON_LINES: Final = "application/x-ndjson"
_WORDINGS: Final = 10
_MAX_ANSWERED_TURNS: Final = 100
"""Turns of one label whose answers are kept for rankers."""


class WorkParams(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a request for the work list."""

    since: Annotated[float | None, Meta(description="From then on; by default seven days.")] = None
    sign: WorkSign | None = None
    cursor: Cursor = None
    limit: Limit = 50


class WorkPlace(msgspec.Struct, frozen=True, array_like=True):
    """A place in the list, after a group with this number of times, latest time and id."""

    times: int
    last: float
    id: str

    @property
    def order(self) -> tuple[int, float, str]:
        """The place as groups are ordered."""
        return -self.times, -self.last, self.id


class WorkItem(msgspec.Struct, frozen=True, kw_only=True):
    """A question: its number of `times` and `people`, and its other wordings (`also`).

    `last` is its latest time, `utt_id` the reply to it then, `said` the text of that reply, `spoke`
    its speakers. `answers` are the answers of the asked agents, `likely` the agents that the router
    would ask now. `sign` is null for a reply without a dislike, `label` the existing label.
    """

    id: str
    times: int
    people: int
    text: str
    also: list[str]
    sign: WorkSign | None
    last: float
    spoke: list[str]
    said: str
    utt_id: str
    dialog_id: str
    answers: list[OfferedAnswer]
    likely: list[str]
    label: GivenLabel | None = None


class WorkPage(msgspec.Struct, frozen=True, kw_only=True):
    """Questions to label, the most frequent first.

    `kinds` is their number, `questions` their number with duplicates.

    `labels` counts all labels, `agents` names all agents.
    """

    items: list[WorkItem]
    next: str | None
    questions: int
    kinds: int
    labels: int
    agents: list[str]


class NewLabel(msgspec.Struct, frozen=True, kw_only=True):
    """The right agents for a question; an empty list: nobody.

    `work` is the id of an item of the work list, or the `utt_id` of any reply. `answer` is the
    right text.
    """

    work: Annotated[str, Meta(min_length=1, max_length=100)]
    agents: Annotated[list[str], Meta(max_length=50)]
    answer: Annotated[str, Meta(max_length=100_000)] = ""


class LabelMade(msgspec.Struct, frozen=True):
    """The id of a label, and the number of turns to which it applies."""

    id: str
    turns: int


class WorkPath(msgspec.Struct, frozen=True):
    """The parameters of a request about the question of a reply."""

    utt_id: str


class LabelPath(msgspec.Struct, frozen=True):
    """The parameters of a request about a label."""

    id: str


class LabelParams(msgspec.Struct, frozen=True):
    """The parameters of a request for labels; `answered`: only labels with an answer in words."""

    answered: bool = False


class WorkEndpoints:
    """Shows the work list, and takes labels."""

    def __init__(self, assistant: Assistant, cards: Mapping[str, Card]) -> None:
        self._assistant = assistant
        self._labels = assistant.labels
        self._work = WorkList(assistant)
        self._agents = WorkAnswers(assistant, cards)
        self._labelling = asyncio.Lock()
        errors = (BadInput, NotFound, LabelConflict)
        show = Operation(self.show_work, errors=[NotFound])
        label = OperatorWrite(self.add_label, status=201, errors=errors)
        delete = OperatorWrite(self.delete_label, status=204, errors=[NotFound])
        listed = Operation(self.list_labels, produces=JSON_LINES)
        self.routes = [
            Route("GET", f"{BASE}/work", Operation(self.list_work), "operators"),
            Route("GET", f"{BASE}/questions/{{utt_id}}", show, "operators"),
            Route("POST", f"{BASE}/labels", label, "operators"),
            Route("GET", f"{BASE}/labels", listed, "operators"),
            Route("DELETE", f"{BASE}/labels/{{id}}", delete, "operators"),
        ]

    async def list_work(self, request: TypedRequest[WorkParams, None]) -> WorkPage:
        """List questions with disliked replies, near duplicates together."""
        params = request.params
        after = WORK_CURSOR.read(params.cursor)
        groups = await self._work.groups(params.since, params.sign)
        rest = groups if after is None else [one for one in groups if one.order > after.order]
        shown = rest[: params.limit]
        likely = await self._agents.likely([one.last.said for one in shown])
        last = shown[-1] if len(rest) > len(shown) else None
        return WorkPage(
            items=[await self._item(one, who) for one, who in zip(shown, likely, strict=True)],
            next=WORK_CURSOR.write(None if last is None else find_place(last)),
            questions=sum(len(one.turns) for one in groups),
            kinds=len(groups),
            labels=len(await self._labels.all_labels()),
            agents=self._agents.names,
        )

    async def show_work(self, request: TypedRequest[WorkPath, None]) -> WorkItem:
        """Show the question of a reply, with its near duplicates, or alone."""
        utt_id = request.params.utt_id
        group = await self._find_group(utt_id)
        if group is None:
            raise NotFound(f"nothing to label has the id {utt_id!s:.80}", field="utt_id")
        ((likely,), label) = (
            await self._agents.likely([group.last.said]),
            await self._labels.find_label(utt_id),
        )
        return msgspec.structs.replace(await self._item(group, likely), label=given_label(label))

    async def add_label(self, request: TypedRequest[None, NewLabel]) -> LabelMade:
        """Label the right agents of a question, in all turns in which it was asked."""
        body = request.body
        agents = list(dict.fromkeys(body.agents))
        for name in agents:
            if name not in self._agents.names:
                hint = suggest(name, self._agents.names)
                raise BadInput(f"there is no agent {name!r}; {hint}", field="agents")
        async with self._labelling:  # of two operators at once the second is refused
            if (earlier := await self._labels.find_label(body.work)) is not None:
                who = ", ".join(earlier.agents) or "nobody"
                what = f"{earlier.by} has said already who is right here: {who}"
                raise LabelConflict(what, field="work")
            group = await self._find_group(body.work)
            if group is None:
                raise NotFound(f"nothing to label has the id {body.work!s:.80}", field="work")
            turns = await self._add_answers(group.turns)
            label = OperatorLabel(
                id=new_id(),
                at=time.time(),
                by=request.visitor.name,
                agents=agents,
                turns=turns,
                answer=body.answer.strip(),
                sign=group.sign or "",
            )
            await self._labels.add(label)
            await self._assistant.observers.refresh_learners()
            self._work.leave_out({one.utt_id for one in turns})
        return LabelMade(label.id, len(turns))

    async def delete_label(self, request: TypedRequest[LabelPath, None]) -> None:
        """Take a label back; its questions are on the work list again."""
        await self._labels.delete(request.params.id)
        await self._assistant.observers.refresh_learners()
        self._work.forget()

    async def list_labels(self, request: TypedRequest[LabelParams, None]) -> HttpResponse:
        """Return all labels as JSON lines, as `prolocutor train --data jsonl:` reads them."""
        found = await self._labels.all_labels()
        wanted = [one for one in found if one.answer or not request.params.answered]
        names = self._agents.names
        lines = [line for one in wanted for line in _lines(one, names)]
        return HttpResponse(b"".join(lines), content_type=JSON_LINES)

    async def _item(self, group: WorkGroup, likely: list[str]) -> WorkItem:
        last, texts = group.last, group.texts
        _, answers = await self._agents.answers(last.utt_id)
        return WorkItem(
            id=group.id,
            times=len(group.turns),
            people=len({one.user for one in group.turns}),
            text=texts[0],
            also=texts[1 : 1 + _WORDINGS],
            sign=group.sign,
            last=last.at,
            spoke=last.spoke,
            said=last.reply,
            utt_id=last.utt_id,
            dialog_id=last.dialog_id,
            answers=answers,
            likely=likely,
        )

    async def _find_group(self, utt_id: str) -> WorkGroup | None:
        """Return the group of a reply, or a group of it alone; None for an unknown reply."""
        for group in await self._work.groups():
            if any(one.utt_id == utt_id for one in group.turns):
                return group
        return await self._work.alone(utt_id)

    async def _add_answers(self, turns: list[FlaggedTurn]) -> list[LabelledTurn]:
        """Return turns with their whole text; the latest turn also with the agents' answers."""
        found = []
        for place, turn in enumerate(turns):
            said, answers = await self._agents.answers(turn.utt_id)
            if len(turns) - place > _MAX_ANSWERED_TURNS:
                answers = []
            own = {one.agent: one.text for one in answers}
            if said:
                found.append(
                    LabelledTurn(utt_id=turn.utt_id, user=turn.user, text=said, answers=own)
                )
        if not found:
            raise NotFound("these questions have been deleted", field="work")
        return found


WORK_CURSOR: Final = CursorCodec(WorkPlace)


def find_place(group: WorkGroup) -> WorkPlace:
    """Return the place of a group in the list."""
    return WorkPlace(len(group.turns), group.last.at, group.id)


def _lines(label: OperatorLabel, agents: list[str]) -> list[bytes]:
    """Return a line for each turn; nobody is right if each agent has the share 0."""
    shared = {
        "agents": label.agents or dict.fromkeys(agents, 0.0),
        "weight": 1.0,
        **({"labels": [label.answer]} if label.answer else {}),
        "by": label.by,
        "at": label.at,
        "label": label.id,
    }
    return [
        plain.encode(
            {"text": one.text, **shared, **({"answers": one.answers} if one.answers else {})}
        )
        + b"\n"
        for one in label.turns
    ]
