"""What was learned is kept, and learned anew from other phrasings."""

from pathlib import Path

import pytest

from prolocutor.plugins.language.follow_up.phrasings.learning import (
    Weights,
    kept_weights,
    learn_weights,
    write_weights,
)

LEARNED: Weights = {"boat": {1: 50}}


class Lessons:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> Weights:
        self.count += 1
        return LEARNED


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "prolocutor" / "phrasings"


def test_features_speak_for_the_class_that_has_them() -> None:
    rows = [(["boat", "to"], 1), (["beans", "to"], 2), (["sail", "boat"], 1), (["beans"], 2)]

    weights = learn_weights(rows, 3)

    assert weights["boat"][1] > 0 > weights["boat"].get(2, -1)
    assert weights["beans"][2] > 0


def test_phrasings_are_learned_once() -> None:
    lessons = Lessons()

    assert [kept_weights("name", None, lessons) for _ in range(2)] == [LEARNED, LEARNED]
    assert lessons.count == 1


def test_shipped_weights_are_used_where_they_are_of_these_phrasings(tmp_path: Path) -> None:
    shipped, lessons = tmp_path / "shipped.weights", Lessons()
    write_weights(shipped, "name", {"sail": {2: 7}})

    assert kept_weights("name", shipped, lessons) == {"sail": {2: 7}}
    assert kept_weights("other", shipped, lessons) == LEARNED
    assert lessons.count == 1


def test_a_damaged_file_is_learned_anew(cache: Path) -> None:
    lessons = Lessons()
    kept_weights("name", None, lessons)
    (cache / "name.weights").write_bytes(b"nothing of the kind")

    assert kept_weights("name", None, lessons) == LEARNED
    assert lessons.count == 2


def test_a_folder_that_cannot_be_written_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    assert kept_weights("name", None, Lessons()) == LEARNED


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", no_home)

    assert kept_weights("name", None, Lessons()) == LEARNED
