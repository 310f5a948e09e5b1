"""An assistant that a command means, run in this process with nothing kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from prolocutor.config.assistant_file import load_assistant
from prolocutor.config.building import assistant_from
from prolocutor.config.settings import Settings
from prolocutor.evaluation.content_hash import content_of, module_file
from prolocutor.evaluation.episodes import Episode
from prolocutor.evaluation.evaluated_assistant import EvaluatedAssistant
from prolocutor.evaluation.runner import Runner
from prolocutor.observe.record_request import RecordRequest


class AssistantTarget:
    """The assistant of a file."""

    def __init__(self, path: Path) -> None:
        self._settings = load_assistant(path)
        self.name = self._settings.name
        self.content = content_of_assistant(self._settings)

    def run(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Let the runner ask it everything."""
        asyncio.run(self._run(runner, episodes))

    async def _run(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        async with assistant_in_memory(self._settings) as subject:
            await runner.run(subject, episodes)


@asynccontextmanager
async def assistant_in_memory(settings: Settings) -> AsyncIterator[EvaluatedAssistant]:
    """Start an assistant whose dialogs are forgotten at the end."""
    async with assistant_from(settings, store="memory:", observers=[RecordRequest()]) as assistant:
        yield EvaluatedAssistant(assistant)


def content_of_assistant(settings: Settings) -> str | None:
    """Return a hash over an assistant's file and the modules beside it that it names."""
    files = {Path(settings.file)}
    for _, service in settings.pipeline.services():
        target: object = service.target
        if isinstance(target, str) and (file := module_file(target, settings.folder)):
            files.add(file)
    return content_of(sorted(files))
