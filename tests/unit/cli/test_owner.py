from collections.abc import Iterator
from pathlib import Path

import pytest

from prolocutor.cli.owner import OwnerNote, check_free, find_owner_door
from prolocutor.config.store_location import sqlite_url
from prolocutor.errors import StoreError, StoreLocked
from prolocutor.stores.sqlite.ownership import Ownership


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "dialogs.db"


@pytest.fixture
def owner(file: Path) -> Iterator[Ownership]:
    owner = Ownership(file)
    owner.take()
    yield owner
    owner.release()


def test_nobody_owns_a_free_store(file: Path) -> None:
    check_free(sqlite_url(file))

    assert find_owner_door(sqlite_url(file)) is None
    assert find_owner_door("memory:") is None


def test_the_door_is_the_one_that_the_owner_noted(file: Path, owner: Ownership) -> None:
    note = OwnerNote("serve", "/a.yaml", "http://127.0.0.1:1", "key")
    owner.note(note.text())

    door = find_owner_door(sqlite_url(file), Path("/a.yaml"))

    assert door is not None
    assert door.note == note


def test_an_owner_without_a_door_is_locked_once_patience_ends(file: Path, owner: Ownership) -> None:
    owner.note("a word that is no note")

    with pytest.raises(StoreLocked, match=r"process .* has this store to itself; end it"):
        find_owner_door(sqlite_url(file), patience=0)


def test_the_door_of_another_assistant_is_not_taken(file: Path, owner: Ownership) -> None:
    owner.note(OwnerNote("serve", "/a.yaml", "http://127.0.0.1:1").text())

    with pytest.raises(StoreLocked, match=r"its assistant is /a.yaml"):
        find_owner_door(sqlite_url(file), Path("/b.yaml"))


def test_a_served_store_is_not_free_and_its_door_is_told(file: Path, owner: Ownership) -> None:
    owner.note(OwnerNote("serve", "/a.yaml", "http://127.0.0.1:1").text())

    with pytest.raises(StoreLocked, match=r"\(prolocutor serve\) .* serves it at http://127"):
        check_free(sqlite_url(file))


def test_a_door_where_nobody_answers_is_told(file: Path, owner: Ownership) -> None:
    owner.note(OwnerNote("serve", "", "http://127.0.0.1:1").text())
    door = find_owner_door(sqlite_url(file))

    assert door is not None
    with pytest.raises(StoreError, match=r"does not answer at http://127.0.0.1:1"):
        door.post("/owner/turn", {})
