"""Evaluated assistants: from a file, or an object, started or not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load_assistant
from prolocutor.config.settings import Settings
from prolocutor.dialog.dialog import Hypothesis
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput
from prolocutor.plan.pipeline import Pipeline
from prolocutor.plugins.evaluation.episodes import Episode
from prolocutor.plugins.evaluation.evaluated_agent import (
    Message,
    SystemDialog,
    SystemReply,
    set_seed,
)
from prolocutor.plugins.evaluation.owned_folder import content_hash, module_file
from prolocutor.plugins.evaluation.runner import Runner


class AssistantTarget:
    """An assistant as an object; it is opened for the run unless it is ready already."""

    def __init__(self, assistant: AbstractAsyncContextManager[Assistant]) -> None:
        self._assistant = assistant
        self.name = str(getattr(assistant, "name", "assistant"))
        self.content: str | None = None

    def run(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Ask it every episode, in an event loop of its own."""
        if getattr(self._assistant, "ready", False):
            what = "is started already, in another event loop: use await evaluate_async(...)"
            raise BadInput(f"the assistant {self.name} {what}", field="subject")
        asyncio.run(self.run_async(runner, episodes))

    async def run_async(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Ask it every episode."""
        if isinstance(self._assistant, Assistant) and self._assistant.ready:
            await runner.run(EvaluatedAssistant(self._assistant), episodes)
            return
        async with self._assistant as assistant:
            await runner.run(EvaluatedAssistant(assistant), episodes)


class SkillTarget(AssistantTarget):
    """A skill as the only skill of an assistant with its dialogs in memory."""

    def __init__(self, skill: Callable[..., Any], name: str, content: str | None) -> None:
        super().__init__(Assistant(Pipeline(skills=[skill]), store="memory:"))
        self.name = name
        self.content = content


class FileTarget(AssistantTarget):
    """The assistant of a file, with its dialogs in memory."""

    def __init__(self, path: Path) -> None:
        settings = load_assistant(path)
        super().__init__(build_assistant(settings, store="memory:", recording=False))
        self.name = settings.name
        self.content = content_of_assistant(settings)


class EvaluatedAssistant:
    """An assistant in this process; each dialog has a new user."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def begin(self, seed: int) -> SystemDialog:
        """Open a dialog of a new user."""
        set_seed(seed)
        return _UserDialog(self._assistant, f"evaluation-{new_id()}")

    def end(self, dialog: SystemDialog, *, stuck: bool) -> None:
        """Do nothing: the assistant bounds its turns itself."""


class _UserDialog:
    def __init__(self, assistant: Assistant, user: str) -> None:
        self._assistant, self._user = assistant, user

    async def answer(self, message: Message) -> SystemReply:
        text = message.get("text")
        if not isinstance(text, str):
            raise BadInput("the example has no text", field="text")
        result = await self._assistant.turn(text, user=self._user, channel="evaluation")
        reply = result.reply
        act: dict[str, Any] = {
            "text": reply.text,
            "confidence": reply.confidence,
            "text_candidates": reply_candidates(reply.text, result.hypotheses),
        }
        calls = sum(one.calls for one in result.record.services) if result.record else None
        return SystemReply(act, reply.active_skill, calls)


def reply_candidates(text: str, hypotheses: list[Hypothesis]) -> list[str]:
    """Return the reply's text and then the hypotheses' texts, the most confident first."""
    others = sorted(hypotheses, key=lambda one: -one.confidence)
    return list(dict.fromkeys([text, *(one.text for one in others)]))


def content_of_assistant(settings: Settings) -> str | None:
    """Return a hash over an assistant's file and the modules named in it that lie beside it."""
    files = {Path(settings.file)}
    for _, service in settings.pipeline.services():
        target: object = service.call.target
        if isinstance(target, str) and (file := module_file(target, settings.folder)):
            files.add(file)
    return content_hash(sorted(files))
