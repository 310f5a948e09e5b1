"""GatheredAnswer: an agent's answer, assembled from the events of its task."""

from __future__ import annotations

from typing import Final

from prolocutor.contracts.connector import DeltaSink
from prolocutor.errors import BadReply
from prolocutor.plugins.a2a.wire.core import (
    AUTH_REQUIRED,
    COMPLETED,
    INPUT_REQUIRED,
    TERMINAL,
    A2aArtifact,
    A2aArtifactUpdate,
    A2aEvent,
    A2aMessage,
    A2aPart,
    A2aStatus,
    A2aTask,
    parts_text,
)

MAX_PARTS: Final = 100_000
"""Parts of all artifacts of a task."""


class GatheredAnswer:
    """The answer to a message: a message of the agent, or a task with its artifacts.

    `deltas` takes the words of artifacts as they arrive. `task_id` and `context_id` are the
    agent's, "" until known. `is_pieced`: a text arrived in several parts.
    """

    def __init__(self, deltas: DeltaSink | None = None) -> None:
        self._deltas = deltas
        self._shown = ""
        self.task_id = ""
        self.context_id = ""
        self.status = A2aStatus()
        self.message: A2aMessage | None = None
        self.artifacts: dict[str, A2aArtifact] = {}
        self.history: list[A2aMessage] = []
        self.is_pieced = False
        self._parts = 0

    def take(self, event: A2aEvent) -> bool:
        """Add an event; return whether the answer is complete."""
        if event.message is not None:
            self.message = event.message
            self._name(event.message.task_id, event.message.context_id)
        elif event.task is not None:
            self.take_task(event.task)
        elif event.status_update is not None:
            update = event.status_update
            self._name(update.task_id, update.context_id)
            self.status = update.status
        elif event.artifact_update is not None:
            self._add(event.artifact_update)
        return self.is_whole

    def take_task(self, task: A2aTask) -> None:
        """Replace the known state by a task."""
        self._name(task.id, task.context_id)
        self.status = task.status
        self.history = task.history
        if task.artifacts or not self.artifacts:
            self.artifacts = {
                artifact.artifact_id or str(position): artifact
                for position, artifact in enumerate(task.artifacts)
            }

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete until another message is sent."""
        state = self.status.state
        paused = state in (INPUT_REQUIRED, AUTH_REQUIRED)
        return self.message is not None or paused or state in TERMINAL

    def answer_parts(self) -> list[A2aPart]:
        """Return the parts of the answer: of its artifacts, else of the agent's last message."""
        if self.message is not None:
            return self.message.parts
        if self.status.state != INPUT_REQUIRED and self.artifacts:
            return [part for artifact in self.artifacts.values() for part in artifact.parts]
        if self.status.message is not None and self.status.message.parts:
            earlier = [part for artifact in self.artifacts.values() for part in artifact.parts]
            return [*earlier, *self.status.message.parts]
        if self.artifacts:
            return [part for artifact in self.artifacts.values() for part in artifact.parts]
        agents = [one for one in self.history if one.role == "ROLE_AGENT"]
        return agents[-1].parts if agents else []

    def text(self) -> str:
        """Return the text of the answer, a line for each artifact."""
        if self.message is not None:
            return _lines(self.message.parts)
        if self.status.state == COMPLETED and len(self.artifacts) == 1:
            (only,) = self.artifacts.values()
            if text := parts_text(only.parts):
                return text
        texts = [parts_text(artifact.parts) for artifact in self.artifacts.values()]
        message = self.status.message
        if message is not None and (self.status.state == INPUT_REQUIRED or not any(texts)):
            texts.append(_lines(message.parts))
        if not any(texts):
            return _lines(self.answer_parts())
        return "\n".join(text for text in texts if text)

    def words(self) -> str:
        """Return the agent's words about the state of its task, for the log."""
        message = self.status.message
        return "" if message is None else " ".join(_lines(message.parts).split())[:200]

    def _name(self, task_id: str, context_id: str) -> None:
        self.task_id = task_id or self.task_id
        self.context_id = context_id or self.context_id

    def _add(self, update: A2aArtifactUpdate) -> None:
        self._name(update.task_id, update.context_id)
        artifact = update.artifact
        self._parts += len(artifact.parts)
        if self._parts > MAX_PARTS:
            raise BadReply(f"artifacts of more than {MAX_PARTS:,} parts")
        known = self.artifacts.get(artifact.artifact_id) if update.append else None
        if known is None:
            self.artifacts[artifact.artifact_id] = artifact
        else:
            self.is_pieced = True
            known.parts.extend(artifact.parts)
        if self._deltas is not None:
            self._show(self._deltas)

    def _show(self, deltas: DeltaSink) -> None:
        """Pass new words on; after words were withdrawn, pass all words on again."""
        texts = [parts_text(artifact.parts) for artifact in self.artifacts.values()]
        text = "\n".join(one for one in texts if one)
        if not text.startswith(self._shown):
            deltas.restart()
            self._shown = ""
        if len(text) > len(self._shown):
            deltas.add(text[len(self._shown) :])
            self._shown = text


def _lines(parts: list[A2aPart]) -> str:
    return "\n".join([part.text for part in parts if part.text])
