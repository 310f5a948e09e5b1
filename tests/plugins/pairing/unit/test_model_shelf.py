"""The models beside the one in use: put live, gone back to, deleted."""

from pathlib import Path

import pytest

from prolocutor.contracts.model_use import TrainingReport
from prolocutor.contracts.pairing import Card
from prolocutor.errors import ConfigError, NotFound
from prolocutor.plugins.pairing.model_files import HEAD, load_model, save_model, training_card
from prolocutor.plugins.pairing.model_reloading import MAX_KEPT_MODELS, FolderShelf
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter

CARDS = [Card(name="tea", description="tea"), Card(name="eggs", description="eggs")]


class Shelf:
    """A shelf beside a model in use."""

    def __init__(self, folder: Path) -> None:
        self.in_use = folder / "router"
        self.first = save(self.in_use, "first")
        self.shelf = FolderShelf(self.in_use)

    def add(self, text: str) -> str:
        folder = self.shelf.new_folder() / "model"
        id_ = save(folder, text)
        self.shelf.put(folder, TrainingReport(model=id_, role="router", method="learned"))
        return id_

    def live(self) -> str:
        return load_model(self.in_use).id


def save(folder: Path, text: str) -> str:
    router = LearnedRouter(CARDS)
    router.learn(text, ["tea"])
    return save_model(folder, router.to_model(training_card(1)))


@pytest.fixture
def it(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_a_model_is_put_in_use_and_the_one_before_can_be_gone_back_to(it: Shelf) -> None:
    second = it.add("second")
    before = it.shelf.install(second)
    there = it.live()
    back = it.shelf.install(it.first)

    assert before == it.first
    assert there == second
    assert back == second
    assert it.live() == it.first
    assert {one.model.id for one in it.shelf.models()} == {it.first, second}


def test_names_are_compared_and_never_joined_to_a_path(it: Shelf) -> None:
    it.add("second")
    for id_ in ("../router", "/etc", "..", ".", "", "a/b", f"../{it.in_use.name}.models/x"):
        with pytest.raises(NotFound):
            it.shelf.install(id_)
        with pytest.raises(NotFound):
            it.shelf.delete(id_)

    assert it.live() == it.first


def test_a_damaged_model_is_not_put_in_use(it: Shelf) -> None:
    second = it.add("second")
    part = next(it.in_use.with_name("router.models").glob(f"{second}/lessons.json"))
    part.write_text("[]")
    with pytest.raises(ConfigError, match="checksum"):
        it.shelf.install(second)
    (part.parent / HEAD).write_text("{")

    assert it.live() == it.first
    assert it.shelf.models() == []


def test_ten_former_ones_stay_and_ten_others_and_the_one_in_use(it: Shelf) -> None:
    former = [it.add(f"former {n}") for n in range(MAX_KEPT_MODELS + 2)]
    for id_ in former:
        it.shelf.install(id_)
    for n in range(MAX_KEPT_MODELS + 1):
        it.add(f"new {n}")
    it.shelf.tidy(former)
    left = {one.model.id for one in it.shelf.models()}

    assert former[-1] == it.live() in left
    assert len(left & set(former)) == MAX_KEPT_MODELS + 1
    assert len(left - set(former)) == MAX_KEPT_MODELS


def test_what_a_cut_off_training_left_is_no_model_and_is_removed(it: Shelf) -> None:
    second, rest = it.add("second"), it.shelf.new_folder()
    save(rest / "model", "half")
    before = [one.model.id for one in it.shelf.models()]
    it.shelf.sweep()

    assert before == [one.model.id for one in it.shelf.models()] == [second]
    assert not rest.exists()
