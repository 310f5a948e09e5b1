"""Turns through a pipeline, built small: a dialog in memory, services told what to say."""

from __future__ import annotations

import asyncio
from typing import Any

from prolocutor.assistant.assistant_settings import DEFAULTS
from prolocutor.assistant.wiring import connect
from prolocutor.contracts.store import TurnClosing
from prolocutor.dialog.agent_state import dialog_to_state
from prolocutor.dialog.inputs import StopSignal, TurnInput, TurnStart
from prolocutor.dialog.turn_events import TurnListener
from prolocutor.functions import resolve
from prolocutor.pipeline.engine import Engine
from prolocutor.pipeline.turn import Turn
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeService
from prolocutor.testing.sample_turns import open_new_turn
from tests.model_store import ModelStore

PATIENCE = 60
"""Seconds after which a test that hangs fails."""

FALLBACK = "I do not know."


class Talk:
    """One person's dialog with one pipeline."""

    def __init__(self, pipeline: Pipeline, **options: Any) -> None:
        settings = {
            "deadline": DEFAULTS.deadline,
            "reserve": DEFAULTS.reserve,
            "max_attributes": DEFAULTS.max_attributes,
            "fallback": FALLBACK,
        }
        self.engine = Engine(pipeline, connect=connect, resolve=resolve, **{**settings, **options})
        self.store = ModelStore()
        self.dialog_id = ""

    async def turn(
        self,
        text: str = "hi",
        *,
        attributes: bytes = b"{}",
        attempt: int = 1,
        listener: TurnListener | None = None,
        stop: StopSignal | None = None,
        **start: Any,
    ) -> Turn:
        """Take one turn and store it; `start` are fields of `TurnStart`."""
        prepared = self.engine.prepared
        begun = await open_new_turn(
            self.store,
            text=text,
            attributes=attributes,
            window=prepared.window,
            hypotheses=prepared.hypotheses,
        )
        begun.attempt = attempt
        self.dialog_id = begun.dialog_id
        how = TurnStart(input=TurnInput(text, "ann"), **start)
        async with asyncio.timeout(PATIENCE):
            now = asyncio.get_running_loop().time()
            turn = await self.engine.run(begun, how, now, listener, None, stop)
        await self.store.close_turn(
            TurnClosing(
                opened=begun,
                previous_reply=turn.draft.previous_reply,
                utterances=turn.view.utterances(),
                human=turn.draft.human,
                bot=turn.draft.bot,
                messages=[],
                outcome=b"",
            )
        )
        return turn

    async def say(self, text: str = "hi", **start: Any) -> str:
        """Take one turn and give the text of the reply."""
        return (await self.turn(text, **start)).draft.final_reply().text

    async def state(self) -> dict[str, Any]:
        """Return the agent state of the dialog as it is stored."""
        dialog = await self.store.dialog(self.dialog_id)
        assert dialog is not None
        return dialog_to_state(dialog)


class Gate:
    """A service that answers when it is let through."""

    def __init__(self, reply: Any = None) -> None:
        self.reply = reply
        self.started = asyncio.Event()
        self.opened = asyncio.Event()
        self.calls = 0
        self.cancelled = 0

    async def __call__(self, request: Any) -> Any:
        self.calls += 1
        self.started.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.reply


class Stubborn:
    """A service that swallows every cancellation until the block that it is used in ends."""

    def __init__(self) -> None:
        self.until = asyncio.Event()
        self.calls = 0

    def __enter__(self) -> Stubborn:
        return self

    def __exit__(self, *_: object) -> None:
        self.until.set()

    async def __call__(self, request: Any) -> Any:
        self.calls += 1
        while not self.until.is_set():
            try:
                await self.until.wait()
            except asyncio.CancelledError:
                continue
        return None


async def settle_down() -> None:
    """Let everything that can happen now happen."""
    for _ in range(12):
        await asyncio.sleep(0)


def hypothesis(text: str = "hello", confidence: Any = 0.5, **more: Any) -> dict[str, Any]:
    """Make a hypothesis."""
    return {"text": text, "confidence": confidence, **more}


def says(name: str, *replies: Any, **options: Any) -> Service:
    """Make a service that gives these replies, one a call; the last serves all further calls."""
    return Service(name, FakeService(*replies), **options)


def skill(name: str = "chat", text: str = "hello", confidence: Any = 0.5, **more: Any) -> Service:
    """Make a skill with one hypothesis."""
    return says(name, [hypothesis(text, confidence, **more)])


def picks(**choice: Any) -> Service:
    """Make a response selector that gives this choice."""
    whole = {"skill_name": "chat", "text": "hello", "confidence": 0.5, **choice}
    return says("selector", whole)


def asked(service: Service) -> list[Any]:
    """Return what a service was asked so far."""
    fake: Any = service.target
    return list(fake.requests)


def outcomes(turn: Turn) -> dict[str, str]:
    """Return what became of each service, by name."""
    return {record.name: record.outcome for record in turn.records()}


def errors(turn: Turn) -> dict[str, str | None]:
    """Return the error of each service that had one."""
    return {record.name: record.error for record in turn.records() if record.error}
