"""Small messages, rows and runs, made without any file of data."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prolocutor.plugins.evaluation.episodes import group_episodes
from prolocutor.plugins.evaluation.evaluated_agent import EvaluatedAgent
from prolocutor.plugins.evaluation.example_rows import ExampleRow
from prolocutor.plugins.evaluation.parlai.agents import RandomCandidateAgent
from prolocutor.plugins.evaluation.run_folder import RunFolder, load_rows
from prolocutor.plugins.evaluation.runner import Runner, RunOptions
from prolocutor.plugins.evaluation.scoring import TeacherScorer

CONFIGURATION = {"subject": "an agent", "seed": 42}


def message(text: str, label: str = "yes", *, done: bool = True, **fields: Any) -> dict[str, Any]:
    """One example."""
    return {"text": text, "eval_labels": [label], **fields, "episode_done": done}


def row(n: int, scores: Mapping[str, float], **fields: Any) -> ExampleRow:
    """One row of an episode of one turn."""
    given: dict[str, Any] = {"episode": n, "turn": 0, "example": f"{n:x}", **fields}
    given.setdefault("input", {"text": f"question {n}", "eval_labels": ["yes"]})
    return ExampleRow(n=n, scores=dict(scores), **given)


def run(
    folder: Path,
    messages: Iterable[Mapping[str, Any]],
    agent: Any = RandomCandidateAgent,
    *,
    configuration: Mapping[str, Any] = CONFIGURATION,
    limit: int | None = None,
    **options: Any,
) -> list[ExampleRow]:
    """Run an agent over messages, and give the rows."""
    subject = EvaluatedAgent(agent)
    with RunFolder(folder, configuration, {}) as kept:
        Runner(kept, TeacherScorer("f1"), RunOptions(**options)).run_agent(
            subject, group_episodes(messages, limit)
        )
        kept.complete()
    subject.close()
    return load_rows(folder)


def without_times(rows: Iterable[ExampleRow]) -> list[ExampleRow]:
    """The same rows, as if they had taken no time."""
    found = list(rows)
    for one in found:
        one.seconds = 0.0
    return found
