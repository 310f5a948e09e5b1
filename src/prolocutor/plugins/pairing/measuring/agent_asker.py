"""Agents of an assistant are asked a question as in one of its turns, and no answer is selected.

The turn is the engine's: annotators first, every agent with its own guard and time-out, and the
request that it has in production. Nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.assistant_settings import DEFAULTS
from prolocutor.assistant.input_checks import check_words
from prolocutor.assistant.journal import Journal
from prolocutor.assistant.rounds.decision import TurnEffects
from prolocutor.assistant.rounds.secrets import Secrets
from prolocutor.contracts.observer import ServiceRecord
from prolocutor.contracts.pairing import AgentCall, UserQuestion
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import DirectReply, TurnInput, TurnStart
from prolocutor.errors import BreakerOpen, NoPlace
from prolocutor.plan.pipeline import ORDER, Pipeline, Service, Skill, Stage

SELECTOR: Final = "asked_for_the_record"
"""The skill selector of a pipeline that is made to be asked."""

_KEPT: Final = (Stage.ANNOTATOR, Stage.SKILL)
_NOT_SENT: Final = (BreakerOpen.code, NoPlace.code)


class AgentReplies(msgspec.Struct, frozen=True):
    """The outcome of one question: each agent's most confident answer, if any, and every call."""

    answers: dict[str, str]
    calls: dict[str, AgentCall]


class AskedAgents:
    """The agents to ask, by turn; the skill selector of the pipeline that is asked."""

    def __init__(self) -> None:
        self._agents: dict[str, Sequence[str]] = {}

    def put(self, turn_id: str, agents: Sequence[str]) -> None:
        """Set the agents to ask in a turn."""
        self._agents[turn_id] = agents

    def select(self, request: dict[str, Any]) -> list[str]:
        """Return the agents to ask, once."""
        return list(self._agents.pop(request["turn_id"], ()))


def pipeline_to_ask(pipeline: Pipeline, wanted: AskedAgents) -> Pipeline:
    """Return a pipeline of the same annotators and skills, of which the set agents are asked.

    What waited for a service that is left out waits for the selector.
    """
    kept = {*_KEPT, *(service.name for stage in _KEPT for service in pipeline.of(stage))}
    gone = {*ORDER, *(service.name for _, service in pipeline.services())} - kept

    def free_skill(service: Skill) -> Skill:
        after = service.after
        if after is not None and gone.intersection(after):
            after = [*(name for name in after if name not in gone), SELECTOR]
        requires = [name for name in service.requires if name not in gone]
        return msgspec.structs.replace(service, after=after, requires=requires)

    return Pipeline(
        annotators=pipeline.annotators,
        skill_selector=Service(SELECTOR, wanted.select, inline=True),
        skills=[free_skill(service) for service in pipeline.of(Stage.SKILL)],
    )


def seconds_to_ask(pipeline: Pipeline) -> float:
    """Return a deadline within which every service has all of its time-out."""
    return 4 * sum(service.timeout for _, service in pipeline.services()) + 4


class AgentAsker:
    """Asks the agents of an assistant made of `pipeline_to_ask`; `prices` are those of a call.

    Each question is from a new user. What was said before it is in the dialog, as said by its
    agent.
    """

    def __init__(
        self, assistant: Assistant, wanted: AskedAgents, prices: Mapping[str, float | None]
    ) -> None:
        self._engine, self._store = assistant.engine, assistant.store
        self._wanted, self._prices = wanted, prices
        secrets = Secrets(self._store)
        self._journal = Journal(self._store, engine=self._engine, secrets=secrets)

    async def ask(self, question: UserQuestion, agents: Sequence[str]) -> AgentReplies:
        """Ask these agents; one that fails or is late has no answer, but a call with an error."""
        user = f"record-{new_id()}"
        try:
            if question.said_before or question.answered_before:
                await self._recall(question, user)
            return await self._ask_agents(question, agents, user)
        finally:
            await self._store.delete_person(user)

    async def _recall(self, question: UserQuestion, user: str) -> None:
        """Add the turn before to the dialog without asking any agent."""
        said = TurnInput(question.said_before, user, channel="evaluation")
        words = DirectReply(
            messages=[{"type": "text", "text": question.answered_before}],
            skill=question.agent_before or "",
        )
        start = TurnStart(input=said, say=words)
        turn = await self._engine.run(await self._open_turn(said), start, monotonic())
        await self._journal.close_turn(turn, TurnEffects())

    async def _ask_agents(
        self, question: UserQuestion, agents: Sequence[str], user: str
    ) -> AgentReplies:
        started = monotonic()
        input = TurnInput(question.text, user, channel="evaluation")
        opened = await self._open_turn(input)
        self._wanted.put(opened.opening.turn_id, agents)
        turn = await self._engine.run(opened, TurnStart(input=input), started)
        surest: dict[str, dict[str, Any]] = {}
        for one in sorted(turn.draft.hypotheses(), key=lambda one: -one["confidence"]):
            surest.setdefault(one["hypothesis_id"].rpartition(".")[0], one)
        calls = {
            one.name: self._call(one, surest.get(one.name))
            for one in turn.records()
            if one.stage == Stage.SKILL and one.name in agents
        }
        answers = {name: surest[name]["text"] for name in calls if name in surest}
        return AgentReplies(answers, calls)

    def _call(self, record: ServiceRecord, answered: dict[str, Any] | None) -> AgentCall:
        sent = record.calls > 0 and record.code not in _NOT_SENT
        error = record.error
        if record.outcome != "done" and error is None:
            error = f"{record.outcome}: what it needs was not there"
        price = self._prices.get(record.name)
        begin, end = record.started or 0.0, record.ended or 0.0
        return AgentCall(
            seconds=round(max(0.0, end - begin), 6) if sent else 0.0,
            price=price if sent or price is None else 0.0,
            confidence=answered["confidence"] if answered is not None else None,
            error=error,
        )

    async def _open_turn(self, input: TurnInput) -> OpenedTurn:
        opened = await self._journal.open_turn(input)
        assert isinstance(opened, OpenedTurn), "without a request id no turn is found again"
        return opened


def check_question(question: UserQuestion) -> None:
    """Raise `BadInput` for a text that an assistant does not take."""
    for text in (question.text, question.said_before, question.answered_before):
        check_words(text, DEFAULTS.max_text)
