"""A model's folder that is read again when it was replaced."""

import logging
from pathlib import Path
from threading import Event, Thread

import pytest

from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.model_files import HEAD
from prolocutor.plugins.pairing.model_reloading import LOOKS, ReloadedModel, VersionedMethod, latest


class Folder:
    """What is in a folder, and who reads it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = 0.0
        self.read = 0
        self.done = Event()
        self.write("first")
        self.kept: ReloadedModel[str] = ReloadedModel(path, self.load, clock=lambda: self.now)

    def write(self, text: str) -> None:
        fresh = self.path / "fresh"
        fresh.write_text(text)
        fresh.rename(self.path / HEAD)

    def load(self) -> VersionedMethod[str]:
        self.read += 1
        text = (self.path / HEAD).read_text()
        self.done.set()
        if text == "broken":
            raise ConfigError("is broken")
        return VersionedMethod(text, f"id of {text}")

    def wait_for_reading(self) -> None:
        self.done.clear()
        self.now += LOOKS
        assert self.kept.latest.method
        assert self.done.wait(10)
        self.kept.reload()


def test_what_was_read_is_in_use_until_another_stands_ready(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write("second")
    before = folder.kept.latest
    folder.wait_for_reading()

    assert before == VersionedMethod("first", "id of first")
    assert latest(folder.kept) == VersionedMethod("second", "id of second")


def test_a_folder_is_not_looked_at_more_than_once_a_second_nor_read_unchanged(
    tmp_path: Path,
) -> None:
    folder = Folder(tmp_path)
    for folder.now in (0.5, 0.9, 5.0, 50.0):
        assert folder.kept.latest.method == "first"

    assert folder.read == 1


def test_one_that_cannot_be_read_changes_nothing_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    folder = Folder(tmp_path)
    folder.write("broken")
    folder.wait_for_reading()

    assert folder.kept.latest.version == "id of first"
    assert "stays as it was: is broken" in caplog.text


def test_a_folder_that_is_gone_is_waited_for(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    (tmp_path / HEAD).unlink()
    folder.now = 2.0
    gone = folder.kept.latest
    folder.write("second")
    folder.wait_for_reading()

    assert gone.method == "first"
    assert folder.kept.latest.method == "second"


def test_what_is_no_model_has_no_version() -> None:
    method = object()

    assert latest(method) == VersionedMethod(method, "")
    assert latest(VersionedMethod(method, "cards")).version == "cards"


def test_models_are_read_one_after_the_other(tmp_path: Path) -> None:
    reading, other_reads = Event(), Event()
    overlaps: list[bool] = []

    def load() -> VersionedMethod[str]:
        reading.set()
        overlaps.append(other_reads.wait(0.2))
        return VersionedMethod("one", "1")

    def load_other() -> VersionedMethod[str]:
        other_reads.set()
        return VersionedMethod("other", "2")

    one = ReloadedModel(tmp_path / "one", load)
    other = ReloadedModel(tmp_path / "other", load_other)
    reading.clear()
    other_reads.clear()
    thread = Thread(target=one.reload)
    thread.start()
    assert reading.wait(10)
    other.reload()
    thread.join()

    assert overlaps == [False, False]
    assert latest(other).method == "other"
