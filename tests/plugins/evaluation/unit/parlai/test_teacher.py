"""Teachers: datatypes, labels, candidates, chance and scores."""

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.metrics import TeacherMetrics, aggregate_named_reports
from prolocutor.plugins.evaluation.parlai.multitask import MultiTaskTeacher
from prolocutor.plugins.evaluation.parlai.setup_data import FunctionData, make_message
from prolocutor.plugins.evaluation.parlai.teacher import DialogTeacher, all_labels

Episodes = list[list[dict[str, Any]]]


class Listed:
    """Episodes in a list."""

    portion = None

    def __init__(self, episodes: Episodes, id: str = "listed") -> None:
        self.given = episodes
        self.id = id
        self.passes = 0

    def episodes(self) -> Iterator[list[dict[str, Any]]]:
        self.passes += 1
        return iter(self.given)


def example(text: str, *labels: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "labels": list(labels), **more}


TWO: Episodes = [[example("a1", "x"), example("a2", "y")], [example("b1", "z", reward=2)]]


def texts(teacher: DialogTeacher | MultiTaskTeacher, number: int) -> list[str | None]:
    return [teacher.act().get("text") for _ in range(number)]


@pytest.mark.parametrize(
    ("datatype", "field"),
    [
        ("train", "labels"),
        ("train:stream", "labels"),
        ("train:ordered", "labels"),
        ("train:evalmode", "eval_labels"),
        ("valid", "eval_labels"),
        ("test:stream", "eval_labels"),
    ],
)
def test_labels_are_for_learning_only_in_training(datatype: str, field: str) -> None:
    message = DialogTeacher(Listed(TWO), datatype).act()

    assert {"labels", "eval_labels"} & message.keys() == {field}


@pytest.mark.parametrize(
    ("datatype", "expected"),
    [
        ("valid", ["a1", "a2", "b1", None, None]),
        ("test:stream", ["a1", "a2", "b1", None, None]),
        ("train:ordered", ["a1", "a2", "b1", "a1", "a2"]),
        ("train:stream:ordered", ["a1", "a2", "b1", None, None]),
        ("train:stream", ["a1", "a2", "b1", "a1", "a2"]),
    ],
)
def test_after_the_end_comes_padding_or_the_beginning(
    datatype: str, expected: list[str | None]
) -> None:
    assert texts(DialogTeacher(Listed(TWO), datatype), 5) == expected


def test_the_epoch_is_done_with_the_last_example() -> None:
    teacher = DialogTeacher(Listed(TWO), "valid")

    done = [(teacher.act()["episode_done"], teacher.epoch_done()) for _ in range(4)]

    assert done == [(False, False), (True, False), (True, True), (True, True)]


def test_an_epoch_of_repeated_data_is_never_done() -> None:
    teacher = DialogTeacher(Listed(TWO), "train:stream")

    assert not any(teacher.epoch_done() for _ in range(9) if teacher.act())


def test_training_draws_episodes_as_parlai_does_with_the_same_seed() -> None:
    teacher = DialogTeacher(Listed(TWO), "train", chance=random.Random(5))
    expected = random.Random(5)

    drawn = [teacher.act()["text"] for _ in range(30)]

    numbers = (expected.randrange(2) for _ in range(30))
    assert drawn == [text for n in numbers for text in (["a1", "a2"], ["b1"])[n]][:30]


def test_the_random_module_is_the_default_chance() -> None:
    runs = []
    for _ in range(2):
        random.seed(11)
        runs.append(texts(DialogTeacher(Listed(TWO), "train", mutators="flatten"), 20))

    assert runs[0] == runs[1]


@pytest.mark.parametrize("datatype", ["", "dev", "train:fast", "valid:", "test:stream:stram"])
def test_other_datatypes_are_refused(datatype: str) -> None:
    with pytest.raises(BadInput, match="is not a datatype"):
        DialogTeacher(Listed(TWO), datatype)


def test_every_message_carries_the_name_of_the_task() -> None:
    teacher = DialogTeacher(Listed([[example("a", id="someone")]]), "valid")

    assert [teacher.act()["id"], teacher.act()["id"], teacher.getID()] == ["listed"] * 3


def test_the_data_themselves_stay_as_they_are() -> None:
    given = [[example("a b", "x")]]

    list(DialogTeacher(Listed(given), "valid", mutators="word_reverse", candidates=["q"]))

    assert given == [[example("a b", "x")]]


def test_labels_can_be_hidden() -> None:
    assert "eval_labels" not in DialogTeacher(Listed(TWO), "test", hide_labels=True).act()


def test_candidates_of_the_teacher_get_missing_labels_for_one_example() -> None:
    teacher = DialogTeacher(Listed(TWO), "valid", candidates=["z", "x", "z"])

    assert [one["label_candidates"] for one in teacher] == [
        ["z", "x"],
        ["z", "x", "y"],
        ["z", "x"],
    ]
    assert teacher.label_candidates() == ["z", "x"]


def test_candidates_can_be_computed_from_the_data() -> None:
    source = Listed(TWO)

    teacher = DialogTeacher(source, "valid", candidates=lambda: all_labels(source))

    assert teacher.act()["label_candidates"] == ["x", "y", "z"]


@pytest.mark.parametrize("field", ["eval_labels", "episode_done"])
def test_what_the_teacher_says_itself_must_not_be_in_the_data(field: str) -> None:
    with pytest.raises(BadInput, match="the teacher does"):
        DialogTeacher(Listed([[{"text": "a", field: []}]]), "valid").act()


def test_going_through_all_messages_does_not_disturb_acting() -> None:
    teacher = DialogTeacher(Listed(TWO), "valid")
    first = teacher.act()["text"]

    assert [one["text"] for one in teacher] == ["a1", "a2", "b1"]
    assert [first, teacher.act()["text"]] == ["a1", "a2"]


def test_ordered_training_data_are_gone_through_once() -> None:
    assert len(list(DialogTeacher(Listed(TWO), "train:ordered"))) == 3
    assert len(list(islice(DialogTeacher(Listed(TWO), "train"), 50))) == 50


def test_data_are_read_only_as_far_as_they_are_needed() -> None:
    read = []

    class Watched(Listed):
        def episodes(self) -> Iterator[list[dict[str, Any]]]:
            for number in range(1000):
                read.append(number)
                yield [example(str(number))]

    DialogTeacher(Watched([]), "valid").act()

    assert read == [0, 1]


def test_counts_are_those_of_the_data_before_mutators() -> None:
    teacher = DialogTeacher(Listed(TWO), "valid", mutators="flatten")

    assert teacher.num_episodes() == 2
    assert teacher.num_examples() == 3


def test_answers_are_scored_once_and_given_back_with_their_scores() -> None:
    teacher = DialogTeacher(Listed(TWO), "valid", scorer=TeacherMetrics())
    teacher.act()
    answer = Message(text="x")

    scored = teacher.observe(answer)
    teacher.observe(answer)

    assert scored["metrics"]["accuracy"].value() == 1.0
    assert answer == {"text": "x"}
    assert teacher.report()["exs"].value() == 1


def test_reset_begins_anew_with_data_and_scores() -> None:
    teacher = DialogTeacher(Listed(TWO), "valid", scorer=TeacherMetrics())
    texts(teacher, 2)
    teacher.observe(Message(text="y"))

    teacher.reset()

    assert teacher.act()["text"] == "a1"
    assert teacher.report() == TeacherMetrics().report()


def test_empty_data_give_padding() -> None:
    for datatype in ("train", "train:ordered", "train:stream", "valid"):
        teacher = DialogTeacher(Listed([]), datatype)

        assert teacher.act().is_padding()
        assert teacher.epoch_done()


def test_several_tasks_take_turns_by_episodes() -> None:
    other = Listed([[example("c1")], [example("c2")], [example("c3")]], id="other")
    tasks = [DialogTeacher(one, "valid") for one in (Listed(TWO), other)]
    teacher = MultiTaskTeacher(tasks)

    said = texts(teacher, 6)

    assert said == ["a1", "a2", "c1", "b1", "c2", "c3"]
    assert teacher.epoch_done()
    assert teacher.act().is_padding()
    assert [one["text"] for one in teacher] == said
    assert teacher.id == "listed,other"
    assert teacher.num_episodes() == 5
    assert teacher.num_examples() == 6


def test_training_draws_tasks_by_weight_as_parlai_does() -> None:
    tasks = [
        DialogTeacher(Listed([[example(name)]], id=name), "train", chance=random.Random(1))
        for name in "abc"
    ]
    expected = random.Random(3)

    drawn = texts(MultiTaskTeacher(tasks, [3, 0], chance=random.Random(3)), 40)

    choices = [expected.choices(range(3), cum_weights=[3, 3, 4])[0] for _ in range(40)]
    assert drawn == ["abc"[number] for number in choices]
    assert "b" not in drawn


def test_stochastic_weights_are_the_numbers_of_episodes() -> None:
    tasks = [
        DialogTeacher(Listed([[example(name)]] * number, id=name), "train")
        for name, number in (("a", 1), ("b", 50))
    ]

    drawn = texts(MultiTaskTeacher(tasks, "stochastic", chance=random.Random(3)), 100)

    assert drawn.count("b") > 90


def test_the_reports_of_several_tasks_become_one() -> None:
    tasks = [
        DialogTeacher(Listed([[example("t", name)]], id=name), "valid", scorer=TeacherMetrics())
        for name in "ab"
    ]
    teacher = MultiTaskTeacher(tasks, aggregate=aggregate_named_reports)
    while not teacher.epoch_done():
        teacher.act()
        teacher.observe(Message(text="b"))

    report = teacher.report()

    assert [report[name].value() for name in ("accuracy", "a/accuracy", "b/accuracy")] == [
        0.5,
        0,
        1,
    ]


@pytest.mark.parametrize(
    "weights", [[1, 1, 1], [-1], [0, 0], [float("nan"), 1], [float("inf")], [1e308, 1e308]]
)
def test_weights_that_cannot_be_are_refused(weights: list[float]) -> None:
    tasks = [DialogTeacher(Listed(TWO), "train") for _ in range(2)]

    with pytest.raises(BadInput) as refused:
        MultiTaskTeacher(tasks, weights)

    assert refused.value.field == "weights"


def test_setup_data_of_parlai_is_a_data_set() -> None:
    def setup_data(datafile: str) -> Iterator[tuple[Any, bool]]:
        yield ("a", "x", 1, ["x", "y"]), True
        yield {"text": "b", "label": "y"}, False
        yield ("c", ["z"]), True

    source = FunctionData(setup_data, "train", id="mine")

    assert list(source.episodes()) == [
        [
            {"text": "a", "labels": ("x",), "reward": 1, "label_candidates": ["x", "y"]},
            {"text": "b", "labels": ("y",)},
        ],
        [{"text": "c", "labels": ["z"]}],
    ]


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({"text": "a", "eval_labels": ["b"]}, "eval_labels"),
        ({"text": "a", "episode_done": True}, "episode_done"),
        (("a", "b", None, ["c"]), "label_candidates"),
        ("text", None),
    ],
)
def test_entries_that_parlai_refuses_are_refused(entry: Any, field: str | None) -> None:
    with pytest.raises(BadInput) as refused:
        make_message(entry)

    assert refused.value.field == field


@pytest.mark.parametrize("mutators", ["", "word_reverse"])
def test_what_a_listener_does_to_a_message_is_neither_in_the_data_nor_scored(mutators: str) -> None:
    teacher = DialogTeacher(Listed(TWO), "valid", mutators=mutators, scorer=TeacherMetrics())
    before = [dict(message) for message in teacher]
    (label,) = before[0]["eval_labels"]

    teacher.act().clear()
    answer = teacher.observe({"text": label})

    assert answer["metrics"]["accuracy"] == 1
    assert [dict(message) for message in teacher] == before
