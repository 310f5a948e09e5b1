"""Data sets are found by kind and path."""

import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.data_sets import DATA, open_source
from prolocutor.errors import BadData, BadInput, NotFound
from prolocutor.plugins.evaluation.parlai.data_catalog import open_teacher, open_writer

LINE = "text:a\tlabels:b\n"


def test_all_kinds_are_known() -> None:
    assert {*DATA.names()} >= {
        "bbai", "parlai", "fbdialog", "conversations", "jsonl", "csv", "store",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["mine_valid.txt", "mine/valid.txt", "mine"])
def test_a_path_is_a_file_or_where_the_folds_are(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(LINE)

    assert open_teacher(f"parlai:{tmp_path / 'mine'}", "valid").act()["text"] == "a"


def test_a_missing_file_is_named_with_all_places(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"mine: there is no such file, nor .*mine_test\.txt"):
        open_source(f"parlai:{tmp_path / 'mine'}", "test")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("dialogs.txt", "is not KIND:PATH"),
        ("parlay:x", "did you mean 'parlai'"),
        ("zzz:x", "there are bbai, "),
    ],
)
def test_unknown_data_are_refused(data: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        open_source(data)


def test_options_of_another_kind_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(LINE)

    with pytest.raises(BadInput, match="label_turns"):
        open_source(f"parlai:{file}", label_turns="both")


def test_an_option_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="text"):
        open_source(f"jsonl:{tmp_path}", text=["a"])


def test_labels_of_the_data_can_be_the_candidates(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(LINE + "text:c\tlabels:d|b\n")

    teacher = open_teacher(f"parlai:{file}", candidates="labels")

    assert teacher.act()["label_candidates"] == ["b", "d"]


def test_only_formats_can_be_written() -> None:
    with pytest.raises(BadInput, match="store cannot be written"):
        open_writer("store", "x")


def test_a_format_is_written_only_with_options_that_it_knows() -> None:
    with pytest.raises(
        BadInput, match="'jsonl' cannot be made: got an unexpected keyword argument 'fields'"
    ):
        open_writer("jsonl", "x", fields=["topic"])


def test_the_columns_of_a_table_are_the_fields_of_the_first_episode(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    episode = [{"text": "a", "labels": ["b"]}, {"text": "c", "labels": ["d"], "topic": "t"}]

    with open_writer("csv", file) as writer:
        writer.write(episode)
        with pytest.raises(BadData, match="`fields` names those of all episodes"):
            writer.write([{"text": "e", "labels": ["f"], "mood": "m"}])

    assert file.read_text().splitlines()[0] == "text,labels,topic,episode_done"
    assert list(open_source(f"csv:{file}").episodes()) == [episode]


ANIMALS = """\
Cats are afraid of sheep.
Sheep are afraid of mice.
Wolves are afraid of sheep.
Gertrude is a cat.
Winona is a cat.
Emily is a sheep.
Jessica is a cat.
Mice are afraid of cats.
What is winona afraid of?"""
SCHOOL = (
    "Architecturally, the school has a Catholic character. Atop the Main Building's gold dome is a "
    "golden statue of the Virgin Mary. Immediately in front of the Main Building and facing it, is "
    'a copper statue of Christ with arms upraised with the legend "Venite Ad Me Omnes". Next to '
    "the Main Building is the Basilica of the Sacred Heart. Immediately behind the basilica is the "
    "Grotto, a Marian place of prayer and reflection. It is a replica of the grotto at Lourdes, "
    "France where the Virgin Mary reputedly appeared to Saint Bernadette Soubirous in 1858. At the "
    "end of the main drive (and in a direct line that connects through 3 statues and the Gold "
    "Dome), is a simple, modern stone statue of Mary.\n"
    "To whom did the Virgin Mary allegedly appear in 1858 in Lourdes France?"
)
DIGITS = "zero one two three four five six seven eight nine".split()
SAMPLES: dict[str, list[dict[str, Any]]] = {
    "wikimovies": [
        {
            "id": "wikimovies",
            "text": "what movies are about ginger rogers?",
            "labels": ["Top Hat", "Kitty Foyle", "The Barkleys of Broadway"],
        }
    ],
    "babi": [
        {
            "id": "babi:task1k:15",
            "text": text,
            "labels": [label],
            "label_candidates": ["wolf", "mouse", "cat", "sheep"],
        }
        for text, label in (
            (ANIMALS, "sheep"),
            ("What is jessica afraid of?", "sheep"),
            ("What is gertrude afraid of?", "sheep"),
            ("What is emily afraid of?", "mouse"),
        )
    ],
    "squad": [
        {
            "id": "squad",
            "text": SCHOOL,
            "labels": ["Saint Bernadette Soubirous"],
            "answer_starts": [515],
        }
    ],
    "mnist": [
        {
            "text": "Which number is in the image?",
            "labels": ["4", "four"],
            "label_candidates": [*map(str, range(10)), *DIGITS],
            "image": "@@@@\n@; @\n@, @",
        }
    ],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_of_parlais_documentation_survive(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.jsonl"
    with open_writer("jsonl", file) as writer:
        writer.write(SAMPLES[name])

    said = list(open_teacher(f"jsonl:{file}", "train:ordered"))

    last = len(SAMPLES[name]) - 1
    assert said == [
        {**message, "episode_done": place == last, "id": f"{tmp_path.name}/{name}.jsonl"}
        for place, message in enumerate(SAMPLES[name])
    ]


def test_an_extended_field_points_at_the_answer() -> None:
    [squad] = SAMPLES["squad"]

    assert squad["text"][squad["answer_starts"][0] :].startswith(squad["labels"][0])


@pytest.mark.parametrize("name", ["wikimovies", "babi"])
def test_the_samples_are_kept_by_parlais_own_format(name: str, tmp_path: Path) -> None:
    file = tmp_path / "sample.txt"
    with open_writer("parlai", file) as writer:
        writer.write(SAMPLES[name])

    assert list(open_source(f"parlai:{file}").episodes()) == [SAMPLES[name]]


def test_images_are_found_beside_the_data(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="images (Pillow is not installed)")
    image.new("L", (28, 28)).save(tmp_path / "black.png")
    file = tmp_path / "digits.jsonl"
    file.write_text(json.dumps({"text": "which?", "labels": ["0"], "image": "black.png"}))

    def image_in(mode: str) -> Any:
        return open_teacher(f"jsonl:{file}", image_mode=mode).act().get("image")

    assert image_in("ascii") == "\n".join(["@" * 28] * 28)
    assert image_in("raw").mode == "RGB"
    assert image_in("none") is None
