"""Small messages, rows and runs, made without any file of data."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prolocutor.evaluation.agent_subject import AgentSubject
from prolocutor.evaluation.episodes import episodes_of
from prolocutor.evaluation.folder import RunFolder, load_rows
from prolocutor.evaluation.rows import Row
from prolocutor.evaluation.running import Options, Runner
from prolocutor.evaluation.scoring import TeacherScorer
from prolocutor.parlai.agents import RandomCandidateAgent

CONFIGURATION = {"subject": "an agent", "seed": 42}


def message(text: str, label: str = "yes", *, done: bool = True, **fields: Any) -> dict[str, Any]:
    """One example."""
    return {"text": text, "eval_labels": [label], **fields, "episode_done": done}


def row(n: int, scores: Mapping[str, float], **fields: Any) -> Row:
    """One row of an episode of one turn."""
    given: dict[str, Any] = {"episode": n, "turn": 0, "example": f"{n:x}", **fields}
    given.setdefault("input", {"text": f"question {n}", "eval_labels": ["yes"]})
    return Row(n=n, scores=dict(scores), **given)


def run(
    folder: Path,
    messages: Iterable[Mapping[str, Any]],
    agent: Any = RandomCandidateAgent,
    *,
    configuration: Mapping[str, Any] = CONFIGURATION,
    limit: int | None = None,
    **options: Any,
) -> list[Row]:
    """Run an agent over messages, and give the rows."""
    subject = AgentSubject(agent)
    with RunFolder(folder, configuration, {}) as kept:
        Runner(kept, TeacherScorer("f1"), Options(**options)).run_agent(
            subject, episodes_of(messages, limit)
        )
        kept.complete()
    subject.close()
    return load_rows(folder)


def without_times(rows: Iterable[Row]) -> list[Row]:
    """The same rows, as if they had taken no time."""
    found = list(rows)
    for one in found:
        one.seconds = 0.0
    return found
