"""Teachers say what ParlAI's say: runs computed by ParlAI 1.7.2."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from prolocutor.plugins.evaluation.parlai.data_catalog import open_teacher
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.teacher import DialogTeacher

T = TypeVar("T")

VECTORS = Path(__file__).parents[6] / "shared" / "data" / "parlai" / "teacher.jsonl"

if not VECTORS.is_file():
    pytest.skip("ParlAI vectors (../shared/data/parlai is absent)", allow_module_level=True)

FILES, *RUNS = map(json.loads, VECTORS.read_text(encoding="utf-8").splitlines())


class Replay:
    """Chance that picks the labels which the vectors' `flatten` picked: ParlAI was not seeded."""

    def __init__(self, acts: list[dict[str, Any]]) -> None:
        self._steps = zip(acts, [*acts[1:], {"text": ""}], strict=True)

    def choice(self, seq: Sequence[T]) -> T:
        before, after = next(self._steps)
        rest = after["text"].removeprefix(before["text"] + "\n")
        return next((one for one in seq if rest.startswith(f"{one}\n")), seq[0])


def name(run: dict[str, Any]) -> str:
    return " ".join([run["format"], run["datatype"], *run["extra"]])


def teacher_of(run: dict[str, Any], folder: Path) -> DialogTeacher:
    file = folder / "data"
    file.write_text(FILES[f"{run['format']}_file"], encoding="utf-8", newline="")
    extra = dict(zip(run["extra"][::2], run["extra"][1::2], strict=True))
    options: dict[str, Any] = {}
    if "--label-turns" in extra:
        options["label_turns"] = extra.pop("--label-turns")
    options["mutators"] = extra.pop("--mutators", "")
    options["hide_labels"] = extra.pop("--hide-labels", "") == "True"
    assert extra == {}
    return open_teacher(
        f"{run['format']}:{file}",
        run["datatype"],
        chance=Replay(run["acts"]),  # type: ignore[arg-type]
        **options,
    )


@pytest.mark.parametrize("run", RUNS, ids=name)
def test_a_run_of_parlai_is_repeated_exactly(run: dict[str, Any], tmp_path: Path) -> None:
    teacher = teacher_of(run, tmp_path)
    acts: list[Message] = []
    while not teacher.epoch_done():
        acts.append(teacher.act())
        assert acts[-1].pop("id") == teacher.id

    assert acts == run["acts"]
    assert teacher.num_episodes() == run["num_episodes"]
    assert teacher.num_examples() == run["num_examples"]
