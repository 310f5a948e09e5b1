"""Declines that relate to the question, and the agents that they name."""

from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.connector import AgentProfile
from prolocutor.contracts.observer import TurnRecord
from prolocutor.plan.pipeline import Pipeline, Service, Skill
from prolocutor.plugins.language.declining import answer

CARDS: dict[str, dict[str, Any]] = {
    "clock": {
        "description": "Tells times.",
        "examples": ["what time is it in Rome", "how late is it"],
        "translations": {"en": "tell the time", "de": "die Uhrzeit sagen"},
    },
    "trips": {
        "description": "Plans a trip by train.",
        "translations": {"en": "plan trips by train", "de": "Reisen mit dem Zug planen"},
    },
    "stars": {"description": "Names the stars of a night"},
    "guide": {"description": "Guides to times by train in Rome", "hidden": True},
    "mute": {},
}
SKILLS = [AgentProfile(name=name, card=card) for name, card in CARDS.items()]


def declined(text: str | None, code: str = "en") -> str:
    annotations = {"language": {"code": code}}
    asked = {"human_utterances": [{"text": text, "annotations": annotations}]}
    (only,) = answer.with_skills(SKILLS)(asked)
    return str(only["text"])


def test_an_address_is_not_quoted() -> None:
    assert declined("https://door.example/uploads/1.png").startswith("I have no answer to that.")
    assert declined("what is https://door.example/a.mp3").startswith(
        "I have no answer to “what is”."
    )


async def test_a_turn_that_was_declined_counts_as_one_without_an_answer() -> None:
    records = []

    class Watch:
        def turn_ended(self, record: TurnRecord) -> None:
            records.append(record)

        def breaker_changed(self, service: str, state: str) -> None:
            """Do nothing."""

    def knows(request: dict[str, Any]) -> object:
        return "yes" if "know" in request["human_utterances"][-1]["text"] else []

    pipeline = Pipeline(skills=[Service("knows", knows), Service("guide", answer)])
    async with Assistant(pipeline, store="memory:", observers=[Watch()]) as assistant:
        for said in ("book a table", "you know"):
            await assistant.reply(said, user="ann")

    assert [one.flags(slow=1e9) for one in records] == [["none"], []]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("text bob that I’m late for my train", "text bob that you're late for your train"),
        ("send bob what i've got", "send bob what you've got"),
        ("write that I was by myself", "write that you were by yourself"),
    ],
)
def test_a_decline_speaks_to_the_person_who_spoke(said: str, told: str) -> None:
    assert f"I cannot {told}." in declined(f"please {said}", "en")


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        (
            "Please book me a train for my trip by night, what time!",
            "en",
            (
                "I cannot book you a train for your trip by night, what time."
                " I can plan trips by train or tell the time."
            ),
        ),
        (
            "name late stars of the night",
            "en",
            (
                "I have no answer to “name late stars of the night”."
                " Agents here: Names the stars of a night; Tells times."
            ),
        ),
        (
            "mit dem Zug reisen, um welche Uhrzeit?",
            "de",
            (
                "Auf „mit dem Zug reisen, um welche Uhrzeit“ habe ich keine Antwort."
                " Ich kann Reisen mit dem Zug planen oder die Uhrzeit sagen."
            ),
        ),
        (
            "plan trips by train and time, " * 9,
            "it",
            "I have no answer to that. I can plan trips by train or tell the time.",
        ),
    ],
)
def test_a_decline_repeats_the_words_and_names_the_two_nearest_agents(
    text: str, code: str, expected: str
) -> None:
    assert declined(text, code) == expected


@pytest.mark.parametrize("text", [None, "", "?!", "{words} {0}", "x" * 10_000])
def test_any_text_is_declined(text: str | None) -> None:
    assert declined(text).startswith("I have no answer to ")


async def test_the_skill_learns_of_the_others_from_their_cards() -> None:
    def silent(request: dict[str, Any]) -> list[Any]:
        return []

    skills = [Skill(silent, name=name, card=card) for name, card in CARDS.items()]
    pipeline = Pipeline(skills=[*skills, Skill(answer, name="decline")])
    async with Assistant(pipeline, store="memory:") as assistant:
        reply = await assistant.reply("book a train at this time", user="ann")
    assert reply.text.startswith("I cannot book a train at this time. I can ")
