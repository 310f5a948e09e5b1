"""The data of pairing: BBAI's folders and one's own questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from prolocutor.contracts.pairing import Card
from prolocutor.errors import BadData, NotFound
from prolocutor.plugins.pairing.measuring.pairing_data import (
    few_shots,
    load_pairing_data,
    only_agents,
    some_agents,
)
from tests.plugins.pairing.unit.measuring.made import data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    votes = {"ann": 4, "bob": 2, "none": 1, "intent": 0}
    sun = {"human_vote": votes, "ann": "sunny", "bob": "", "intent": "weather", "human": ["ann"]}
    files: dict[str, Any] = {
        "test.json": {"sun?": sun, "who?": {**sun, "human": ["none"]}},
        "train_classifier.json": [["rain?", ["bob"]]],
        "descriptions.json": {"ann": "Tells the weather.", "bobs": "Sings."},
    }
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value))
    return tmp_path


def jsonl(file: Path, *lines: dict[str, Any]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def test_a_folder_of_bbai_has_cards_votes_and_answers(folder: Path) -> None:
    data = load_pairing_data(f"bbai:{folder}")

    assert [(card.name, card.description) for card in data.cards] == [
        ("ann", "Tells the weather."), ("bob", "Sings."),
    ]  # fmt: skip
    sun, who = data.test
    assert sun.gold == {"ann"}
    assert sun.agents == {"ann": 1.0, "bob": 0.5}
    assert sun.answers == {"ann": "sunny", "bob": ""}
    assert sun.domain == "weather"
    assert who.gold == frozenset()
    assert [one.gold for one in data.learn] == [{"bob"}]


def test_responses_to_learn_from_are_read_where_they_are(folder: Path) -> None:
    entry = {"human_vote": {"ann": 0, "bob": 3}, "ann": "x", "bob": "la", "human": ["bob"]}
    (folder / "train.json").write_text(json.dumps({"sing!": entry}))

    (learned,) = load_pairing_data(f"bbai:{folder}").learn

    assert learned.answers == {"ann": "x", "bob": "la"}


def test_questions_of_ones_own_are_read(tmp_path: Path) -> None:
    file = jsonl(
        tmp_path / "q.jsonl",
        {"text": "a", "agents": ["ann"], "answers": {"ann": "1", "bob": "2"}, "domain": "d"},
        {"text": "b", "agents": "ann|bob"},
        {"text": "c", "agents": {"bob": 0.3}, "said_before": "s", "agent_before": "ann"},
        {"text": "d", "labels": ["bob"]},
    )

    data = load_pairing_data(f"jsonl:{file}", [Card(name="eve")])

    assert data.agents == ["eve", "ann", "bob"]
    assert [one.gold for one in data.test] == [{"ann"}, {"ann", "bob"}, frozenset(), {"bob"}]
    assert data.test[2].question.agent_before == "ann"
    assert data.learn == []


def test_a_table_has_a_column_for_each_agents_answer(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("text,agents,answer_ann,answer_bob\nhi,ann;bob,hello,ho\n")

    (one,) = load_pairing_data(f"csv:{tmp_path / 'q.csv'}").test

    assert one.gold == {"ann", "bob"}
    assert one.answers == {"ann": "hello", "bob": "ho"}


def test_a_part_to_train_on_is_learned_from(tmp_path: Path) -> None:
    jsonl(tmp_path / "train.jsonl", {"text": "a", "agents": ["ann"]})
    jsonl(tmp_path / "test.jsonl", {"text": "b", "agents": ["bob"]})

    data = load_pairing_data(f"jsonl:{tmp_path}")

    assert [one.question.text for one in data.learn] == ["a"]
    assert [one.question.text for one in data.test] == ["b"]


@pytest.mark.parametrize(
    "line",
    [
        {"agents": ["a"]},
        {"text": "a", "agents": 3},
        {"text": "a", "agents": ["a"], "answers": [1]},
    ],
)
def test_what_is_no_question_is_refused(tmp_path: Path, line: dict[str, Any]) -> None:
    with pytest.raises(BadData):
        load_pairing_data(f"jsonl:{jsonl(tmp_path / 'q.jsonl', line)}")


def test_it_can_be_as_if_there_were_fewer_agents(folder: Path) -> None:
    data = only_agents(load_pairing_data(f"bbai:{folder}"), ["ann"])

    assert data.agents == ["ann"]
    assert data.test[0].answers == {"ann": "sunny"}
    assert data.learn == []
    with pytest.raises(NotFound, match="no agent 'eve'; there are ann, bob"):
        only_agents(load_pairing_data(f"bbai:{folder}"), ["eve"])


@pytest.mark.parametrize(
    ("kind", "lines", "what"),
    [
        ("jsonl", '{"text": "a", "agents": "x"}\n\n{"text": "b", "agents": 3}\n', r":3: agents: 3"),
        ("jsonl", '{"text": "a", "agents": "x"}\n{"agents": "x"}\n', r":2: text: is missing"),
        ("csv", "text,agents\na,x\nb,x,y\n", r":3: the row has 3 cells"),
        ("csv", "text,agents,answers\na,x,\nb,x,nonsense\n", r":3: answers: are not answers"),
    ],
)
def test_what_is_wrong_is_told_with_file_line_and_key(
    tmp_path: Path, kind: str, lines: str, what: str
) -> None:
    file = tmp_path / f"q.{kind}"
    file.write_text(lines)

    with pytest.raises(BadData, match=f"q.{kind}{what}"):
        load_pairing_data(f"{kind}:{file}")


def test_a_question_of_nobody_is_learned_as_one_that_no_agent_is_right_for(tmp_path: Path) -> None:
    file = jsonl(
        tmp_path / "q.jsonl",
        {"text": "rain?", "agents": ["ann"]},
        {"text": "what is love?", "agents": ["nobody"]},
    )

    found = load_pairing_data(f"jsonl:{file}", [Card(name="bob")])

    assert found.agents == ["bob", "ann"]
    assert found.test[1].agents == {"bob": 0.0, "ann": 0.0}
    assert found.test[1].gold == frozenset()


@pytest.mark.parametrize("learn", [120, 0])
def test_few_shots_are_so_many_of_each_agent_and_none_is_tested_with(learn: int) -> None:
    found = few_shots(data(learn), 3, seed=1)

    assert len(found.learn) == 9
    assert found.sets_apart
    assert not {one.question.text for one in found.learn} & {
        one.question.text for one in found.test
    }


def test_without_shots_nothing_is_learned_from_the_test() -> None:
    found = few_shots(data(0), 0, seed=1)

    assert found.learn == []
    assert found.sets_apart is True
    assert found.test == data(0).test


def test_questions_of_agents_that_were_not_drawn_stay_as_questions_of_nobody() -> None:
    found = some_agents(data(), 2, seed=0)

    assert len(found.agents) == 2
    assert len(found.test) == 80
    assert sum(not one.gold for one in found.test) > 8
