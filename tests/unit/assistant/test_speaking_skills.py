"""Formatters read which skills spoke in the whole dialog, of which a turn loads a window alone."""

from __future__ import annotations

from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.dialog import Dialog
from prolocutor.plan.pipeline import Pipeline, Service
from tests.model_store import ModelStore


class CountingStore(ModelStore):
    """A store that counts how often a whole dialog is read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0

    async def dialog(self, dialog_id: str) -> Dialog | None:
        self.read += 1
        return await super().dialog(dialog_id)


class Seen:
    """A formatter that keeps what it is told of the skills."""

    skills = True

    def __init__(self) -> None:
        self.told: list[list[str]] = []

    def __call__(self, state: dict[str, Any]) -> dict[str, Any]:
        self.told.append(state["active_skills"])
        return {"text": state["utterances"][-1]["text"]}


def say(skill: str) -> Any:
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        return {"text": skill, "confidence": 1.0 if request["text"] == skill else 0.1}

    return answer


def pipeline(seen: Seen) -> Pipeline:
    skills = [Service(name, say(name), formatter=seen, window=1) for name in ("sun", "moon")]
    return Pipeline(skills=skills)


async def test_they_are_told_in_order_and_the_dialog_is_not_read_again() -> None:
    seen, store, said = Seen(), CountingStore(), ["sun", "moon", "moon", "sun", "moon"]
    async with Assistant(pipeline(seen), store=store) as assistant:
        for text in said:
            await assistant.reply(text, user="ann")

    assert seen.told[::2] == [said[:turn] for turn in range(5)]
    assert store.read == 0


async def test_after_a_restart_the_dialog_is_read_once() -> None:
    seen, store = Seen(), CountingStore()
    async with Assistant(pipeline(Seen()), store=store) as assistant:
        for text in ("sun", "moon", "sun"):
            await assistant.reply(text, user="ann")
    async with Assistant(pipeline(seen), store=store) as assistant:
        for text in ("moon", "sun"):
            await assistant.reply(text, user="ann")

    assert seen.told[::2][-1] == ["sun", "moon", "sun", "moon"]
    assert store.read == 1
