"""Words that nobody has seen before are read by the phrasings of skills."""

from pathlib import Path

import pytest

from prolocutor.contracts.connector import AgentProfile
from prolocutor.plugins.language.follow_up.annotator import FollowUps
from prolocutor.plugins.language.follow_up.grammar import grammar_or_english
from prolocutor.plugins.language.follow_up.last_turn import LastTurn
from prolocutor.plugins.language.follow_up.phrasings.reading import PhrasingReader

ENGLISH = grammar_or_english("en")
FERRIES = [
    {
        "ask": ["ferries to {place} on {date}", "ferries to {place}"],
        "said": """
            when do boats leave for {place}
            is there a boat to {place} on {date}
            which boat takes me over to {place}
            i need to sail to {place} on {date}
            any sailings for {place} on {date}
            boats {place}
        """,
    },
    {
        "ask": "how much is a ferry to {place}",
        "said": """
            what does the boat to {place} cost
            fare to {place}
            price of a crossing to {place}
            what do you charge for the boat to {place}
            how much to get across to {place}
        """,
    },
]
PLOTS = [
    {
        "ask": "note {item} for my plot",
        "said": """
            put {item} down for the plot
            jot {item} down in the garden diary
            write {item} into the diary
            {item} should go into the garden diary
            i planted {item}
            {item}
        """,
    }
]


class Places:
    words = ("Skye", "Arran")
    complete = False

    def knows(self, word: str) -> bool:
        return False

    def kinds(self, words: str) -> frozenset[str]:
        return frozenset({"place"} if words in ("skye", "arran") else ())


SKILLS = [
    AgentProfile(name="ferries", card={"phrasings": FERRIES}, vocabulary=lambda code: Places()),
    AgentProfile(name="plots", card={"phrasings": PLOTS}),
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def read(text: str, *turns: LastTurn, skills: list[AgentProfile] = SKILLS) -> list[str]:
    return [one.text for one in PhrasingReader(skills).requests(text, ENGLISH, turns)]


@pytest.mark.parametrize(
    ("text", "request_read"),
    [
        ("so which boat takes my aunt over to Skye", "ferries to Skye"),
        ("any boats, say, to Arran on Monday", "ferries to Arran on Monday"),
        ("so what does the boat to Skye cost us", "how much is a ferry to Skye"),
        ("jot broad beans down in my garden diary", "note broad beans for my plot"),
    ],
)
def test_new_words_become_a_request_of_the_skill(text: str, request_read: str) -> None:
    assert read(text)[:1] == [request_read]


@pytest.mark.parametrize(
    "text", ["who wrote this song", "my back hurts", "onions", "", "boil an egg " * 20]
)
def test_words_of_nothing_in_the_phrasings_are_not_read(text: str) -> None:
    assert read(text) == []


def test_a_slot_is_filled_from_the_turn_before_where_the_words_leave_it_open() -> None:
    asked = LastTurn("ferries to Skye", "At noon.", skill="ferries")

    assert read("and what does the boat cost", asked)[:1] == ["how much is a ferry to Skye"]


def test_names_are_any_words_where_no_agent_tells_what_they_are() -> None:
    skills = [AgentProfile(name="ferries", card={"phrasings": FERRIES})]
    asked = LastTurn("any sailings for Skye on Monday", "At noon.", skill="ferries")

    found = read("so which boat takes my aunt over to Skye on Monday", skills=skills)
    after = read("and what does the boat cost", asked, skills=skills)

    assert found[:1] == ["ferries to Skye on Monday"]
    assert after[:1] == ["how much is a ferry to Skye"]


def test_the_question_of_a_turn_is_told_in_the_words_of_its_skill() -> None:
    asked = LastTurn("which boat takes me over to Arran", "At noon.", skill="ferries")

    assert PhrasingReader(SKILLS).question_of(asked) == "ferries to Arran"


def test_a_question_of_another_skill_stays() -> None:
    asked = LastTurn("which boat takes me over to Arran", "Noted.", skill="plots")

    assert PhrasingReader(SKILLS).question_of(asked) == ""


def test_each_clause_is_read_by_itself() -> None:
    text = "which boat takes me over to Skye and put onions down for the plot"
    said = {"text": text, "user": {"user_type": "human"}, "annotations": {"follow_up": {}}}

    found = FollowUps(SKILLS)({"human_utterances": [said], "utterances": [said]})

    assert found["text"] == "ferries to Skye and note onions for my plot"


def test_skills_without_phrasings_read_nothing() -> None:
    assert [*PhrasingReader([AgentProfile(name="mute")]).requests("a boat", ENGLISH, [])] == []


def test_words_that_leave_a_number_over_are_not_read() -> None:
    assert read("which boat takes me over to Skye with 40 sheep") == []


def test_one_slot_may_be_left_to_the_question_of_the_same_intent_before() -> None:
    asked = LastTurn("is there a boat to Skye on Monday", "At noon.", skill="ferries")

    assert read("is there a boat on Tuesday", asked)[:1] == ["ferries to Skye on Tuesday"]


def test_words_are_read_as_they_are_typed_without_their_apostrophe() -> None:
    assert read("what's the boat to Skye cost") == read("whats the boat to Skye cost") != []


def test_a_bare_word_is_no_name_where_no_agent_tells_names() -> None:
    said = [*FERRIES, {"ask": "ferries to {place}", "said": ["{place}"] * 6}]
    skills = [AgentProfile(name="ferries", card={"phrasings": said}), SKILLS[1]]

    assert PhrasingReader(skills).model("en").read("perfect") == []
    assert PhrasingReader(skills).model("en").read("which boat takes me over to Skye") != []
