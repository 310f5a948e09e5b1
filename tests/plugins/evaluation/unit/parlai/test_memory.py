"""Data larger than the memory: many examples take no more of it than a thousand."""

import subprocess
import sys
from pathlib import Path

import pytest

from prolocutor.plugins.evaluation.parlai.episodes import MAX_MEMORY, EpisodeBuffer

MOST = 20 << 20

READ = """
import resource, sys
from prolocutor.plugins.evaluation.parlai.data_catalog import open_teacher
teacher = open_teacher(f"parlai:{sys.argv[1]}", sys.argv[2])
number = sum(1 for _ in teacher)
usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(number, usage * (1 if sys.platform == "darwin" else 1024))
"""


def peak(file: Path, number: int, datatype: str) -> int:
    """The most memory, in bytes, that a process needs to go through that many examples."""
    with file.open("w") as out:
        for n in range(number):
            done = "\tepisode_done:True" if n % 4 == 3 else ""
            out.write(f"text:what is {n}?\\nsay it\tlabels:{n}|it is {n}{done}\n")
    command = [sys.executable, "-c", READ, str(file), datatype]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    read, used = map(int, ran.stdout.split())
    assert read == number
    return used


@pytest.mark.slow
def test_many_examples_need_the_memory_of_a_thousand(tmp_path: Path) -> None:
    few, many = (peak(tmp_path / "data.txt", number, "test") for number in (1000, 300_000))

    assert many - few < MOST


def test_ordered_training_data_are_not_kept_in_memory_either(tmp_path: Path) -> None:
    few, many = (peak(tmp_path / "data.txt", number, "train:ordered") for number in (1000, 150_000))

    assert many - few < MOST // 10


def test_a_shelf_gives_any_episode_however_large_all_are() -> None:
    text = "x" * (MAX_MEMORY // 100)

    shelf = EpisodeBuffer([{"text": text, "n": n}, {"text": "y"}] for n in range(250))

    assert len(shelf) == 250
    assert shelf.examples == 500
    assert [shelf[n][0]["n"] for n in (249, 0, 17)] == [249, 0, 17]


def test_what_is_taken_from_a_shelf_is_a_copy() -> None:
    shelf = EpisodeBuffer([[{"labels": ["a"]}]])

    shelf[0][0]["labels"].append("b")

    assert shelf[0] == [{"labels": ["a"]}]
