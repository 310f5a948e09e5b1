"""ReplyEvents: converts the events of a turn to the events of a task's stream."""

from __future__ import annotations

from prolocutor.dialog.turn_events import Delta, Replaced, TurnEvent, TurnStarted
from prolocutor.plugins.a2a.door.outgoing import ARTIFACT
from prolocutor.plugins.a2a.wire.core import (
    COMPLETED,
    WORKING,
    A2aArtifact,
    A2aArtifactUpdate,
    A2aEvent,
    A2aPart,
    A2aStatus,
    A2aStatusUpdate,
    A2aTask,
)

PROVISIONAL = {"provisional": True}
"""Metadata of words that are passed on before the reply is stored: they may yet be replaced."""


class ReplyEvents:
    """Makes the events of the stream of a task.

    Words are sent as pieces of an artifact, marked as provisional. When words are withdrawn the
    artifact is sent again (`append` is false), so that a client that joins pieces has the final
    text.
    """

    def __init__(self, task: A2aTask) -> None:
        self._task = task
        self._said = ""
        self._has_artifact = False

    def take(self, event: TurnEvent) -> A2aEvent | None:
        """Return the stream events that an event of the turn causes."""
        if isinstance(event, TurnStarted):
            since = self._task.status.timestamp
            return status_event(self._task, A2aStatus(state=WORKING, timestamp=since))
        if isinstance(event, Delta):
            self._said += event.text
            return self._artifact([A2aPart(text=event.text)], provisional=True)
        if isinstance(event, Replaced) and self._has_artifact:
            self._said, self._has_artifact = "", False
            return self._artifact([A2aPart(text="")], provisional=True)
        return None

    def last(self, task: A2aTask) -> list[A2aEvent]:
        """Return the end of the stream: the rest of the artifact, and the final state."""
        events = []
        if task.status.state == COMPLETED and task.artifacts:
            events.append(self._rest(task.artifacts[0]))
        events.append(status_event(task, task.status))
        return events

    def _rest(self, artifact: A2aArtifact) -> A2aEvent:
        parts = artifact.parts
        is_plain = len(parts) == 1 and parts[0].text is not None
        said = self._said
        if said and is_plain and str(parts[0].text).startswith(said):
            rest = [A2aPart(text=str(parts[0].text)[len(said) :])]
            return self._artifact(rest, last=artifact)
        self._has_artifact = False
        return self._artifact(parts, last=artifact)

    def _artifact(
        self,
        parts: list[A2aPart],
        *,
        provisional: bool = False,
        last: A2aArtifact | None = None,
    ) -> A2aEvent:
        append, self._has_artifact = self._has_artifact, True
        notes = last.metadata if last is not None else None
        update = A2aArtifactUpdate(
            task_id=self._task.id,
            context_id=self._task.context_id,
            artifact=A2aArtifact(artifact_id=ARTIFACT, parts=parts, metadata=notes),
            append=append,
            last_chunk=last is not None,
            metadata=PROVISIONAL if provisional else None,
        )
        return A2aEvent(artifact_update=update)


def artifact_events(task: A2aTask) -> list[A2aEvent]:
    """Return the artifacts of a task as events."""
    return [
        A2aEvent(
            artifact_update=A2aArtifactUpdate(
                task_id=task.id, context_id=task.context_id, artifact=artifact, last_chunk=True
            )
        )
        for artifact in task.artifacts
    ]


def status_event(task: A2aTask, status: A2aStatus) -> A2aEvent:
    """Return the event of a new state."""
    update = A2aStatusUpdate(
        task_id=task.id, context_id=task.context_id, status=status, metadata=task.metadata
    )
    return A2aEvent(status_update=update)
