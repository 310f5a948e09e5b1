"""Model folders: what is saved comes back, and what is not as it was saved is refused by name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.errors import ConfigError, NotFound
from prolocutor.plugins.pairing.model_files import (
    Model,
    agents_that_differ,
    load_model,
    save_model,
    training_card,
)

numpy = pytest.importorskip("numpy", reason="numpy (the extra learn)")


def model(**changes: Any) -> Model:
    values: dict[str, Any] = {
        "role": "router",
        "method": "linear",
        "agents": ["ann", "bob"],
        "settings": {"slope": 1.5},
        "parts": {"terms": ["sun", "regen", "雨"]},
        "arrays": {"weights": numpy.arange(6, dtype="<f4").reshape(3, 2)},
        "card": training_card(12, data="jsonl:a", scores={"accuracy": (0.5, 0.4, 0.6)}),
    }
    return Model(**{**values, **changes})


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    made = save_model(tmp_path / "m", model())

    back = load_model(tmp_path / "m")

    assert back.id == made
    assert back.parts == model().parts
    assert back.arrays["weights"].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert back.card.scores == {"accuracy": (0.5, 0.4, 0.6)}


def test_the_arrays_are_numpys_own(tmp_path: Path) -> None:
    save_model(tmp_path / "m", model())

    found = numpy.load(tmp_path / "m" / "weights.npy", allow_pickle=False)

    assert found.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_the_same_content_has_the_same_id_and_other_content_another(tmp_path: Path) -> None:
    card = training_card(1)
    first = save_model(tmp_path / "a", model(card=card))

    assert save_model(tmp_path / "b", model(card=card)) == first
    assert save_model(tmp_path / "c", model(card=card, settings={})) != first


def test_a_model_takes_the_place_of_another_whole(tmp_path: Path) -> None:
    save_model(tmp_path / "m", model())
    save_model(tmp_path / "m", model(arrays={}))

    assert {file.name for file in (tmp_path / "m").iterdir()} == {"model.json", "terms.json"}
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


def test_a_folder_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")

    with pytest.raises(ConfigError, match="is not a folder of a model"):
        save_model(tmp_path, model())


def _set(**values: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / "model.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | values))

    return change


def _flip(folder: Path) -> None:
    file = folder / "weights.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (_flip, r"weights\.npy: is not as it was saved"),
        (lambda folder: (folder / "terms.json").unlink(), r"terms\.json: cannot be read"),
        (_set(version=99), "is of version 99, and this prolocutor reads 1"),
        (_set(format="other"), "is not of the format"),
        (_set(agents=["eve"]), "was changed after it was saved"),
        (_set(files={"../x.json": ""}), "was changed after it was saved"),
        (lambda folder: (folder / "model.json").write_text("{"), "is not the head of a model"),
        (lambda folder: (folder / "model.json").write_text("[]"), "is not the head of a model"),
    ],
)
def test_a_harmed_model_is_refused(tmp_path: Path, harm: Callable[[Path], Any], told: str) -> None:
    save_model(tmp_path / "m", model())
    harm(tmp_path / "m")

    with pytest.raises(ConfigError, match=told):
        load_model(tmp_path / "m")


def test_no_model_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no model"):
        load_model(tmp_path)


def test_agents_that_left_and_came_are_told() -> None:
    gone, new = agents_that_differ(model(id="linear-1"), {"ann": 1, "eve": 2})

    assert gone == "the model linear-1 knows agents that are gone: bob"
    assert new.endswith("by their cards alone: eve")
    assert agents_that_differ(model(), {"ann": 1, "bob": 2}) == []


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=20))
def test_any_numbers_come_back(
    tmp_path_factory: pytest.TempPathFactory, values: list[float]
) -> None:
    folder = tmp_path_factory.mktemp("m") / "m"
    save_model(folder, model(arrays={"x": numpy.array(values, "<f4")}))

    assert load_model(folder).arrays["x"].tolist() == values
