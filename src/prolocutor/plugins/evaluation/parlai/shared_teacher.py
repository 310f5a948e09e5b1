"""SharedTeacher: a teacher for batches; its copies take their episodes from the same data."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from prolocutor.plugins.evaluation.parlai.episodes import split_episodes
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.metrics.teacher_metrics import TeacherMetrics


class SharedTeacher:
    """Distributes the messages of a pass through data, such as a `DialogTeacher`, to its copies.

    Each copy takes the next episode when its own ends, and acts with padding after the last
    episode. All copies share one scorer. Messages carry `episode_done` and their labels.
    """

    def __init__(
        self,
        messages: Iterable[Mapping[str, Any]] | _RemainingEpisodes,
        scorer: TeacherMetrics | None = None,
        *,
        id: str | None = None,
    ) -> None:
        name = getattr(messages, "id", None)
        self.id = id or (name if isinstance(name, str) else "teacher")
        self._remaining = (
            messages if isinstance(messages, _RemainingEpisodes) else _RemainingEpisodes(messages)
        )
        self._scorer = scorer or TeacherMetrics()
        self._episode: deque[Mapping[str, Any]] = deque()
        self._labels: Any = None

    def act(self) -> Message:
        """Return the next example, or padding."""
        if not self._episode:
            self._episode = deque(self._remaining.take())
        if not self._episode:
            self._labels = None
            return Message.padding_example()
        said = Message(self._episode.popleft())
        said.setdefault("id", self.id)
        self._labels = said.get("labels") or said.get("eval_labels")
        return said

    def observe(self, observation: Message) -> Message:
        """Score the answer to the latest message."""
        if self._labels is not None:
            self._scorer.evaluate_response(observation, self._labels)
            self._labels = None
        return observation

    def epoch_done(self) -> bool:
        """Return whether nothing is left to say."""
        return not self._episode and self._remaining.empty()

    def report(self) -> dict[str, Any]:
        """Return the scores of all copies."""
        return self._scorer.report()

    def reset_metrics(self) -> None:
        """Forget all scores."""
        self._scorer.clear()

    def getID(self) -> str:  # noqa: N802 - ParlAI's name
        """Return its name."""
        return self.id

    def clone(self) -> SharedTeacher:
        """Return a copy with the same episodes to take from."""
        return SharedTeacher(self._remaining, self._scorer, id=self.id)


class _RemainingEpisodes:
    """The untaken episodes; the next episode is read ahead."""

    def __init__(self, messages: Iterable[Mapping[str, Any]]) -> None:
        self._episodes = split_episodes(messages, lambda one: bool(one.get("episode_done")))
        self._next = next(self._episodes, [])

    def take(self) -> list[Mapping[str, Any]]:
        taken, self._next = self._next, next(self._episodes, [])
        return taken

    def empty(self) -> bool:
        return not self._next
