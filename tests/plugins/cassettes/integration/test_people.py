"""People made of rules find what breaks a law, and the shortest dialog that does."""

from pathlib import Path

import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.cassettes.faults import FaultyAgents
from prolocutor.plugins.cassettes.people import RulePerson, SaidTurn, Templates, broken_laws
from prolocutor.plugins.cassettes.test_command import PeopleTest, run_people
from tests.plugins.cassettes.talks import ASSISTANT, write_assistant

SKILLS = '''
"""Agents that break laws."""

import itertools

heard = []
counted = itertools.count()


def echo(request):
    return {"text": request["human_utterances"][-1]["text"], "confidence": 0.5}


def stubborn(request):
    if request.get("answer") or "diary" in request["human_utterances"][-1]["text"]:
        return {"text": f"Which day? {next(counted)}", "ask": "date", "confidence": 1.0}
    return []


def gossip(request):
    heard.append(request["human_utterances"][-1]["text"])
    if "hello" in heard[-1] and len(heard) > 1:
        names = [one for one in heard if "name is" in one]
        return {"text": f"Hello {' '.join(names)} {next(counted)}.", "confidence": 1.0}
    return []


def sane(request):
    return {"text": f"This is reply {next(counted)}.", "confidence": 0.6}
'''
LOG = "- say: hello there\n- say: my diary please\n- say: what about 7 cats in Paris\n"


@pytest.mark.parametrize(
    ("skills", "law", "word"),
    [
        (["echo"], "echo", ""),
        (["sane", "stubborn"], "endless ask", "diary"),
        (["sane", "gossip"], "wrong person", "hello"),
        (["sane"], None, ""),
    ],
)
async def test_a_broken_law_is_found_and_shrunk(
    skills: list[str], law: str | None, word: str, tmp_path: Path
) -> None:
    (tmp_path / "lawless.py").write_text(SKILLS)
    lines = "".join(f"  {skill}: {{call: 'lawless:{skill}'}}\n" for skill in skills)
    file = write_assistant(tmp_path, f"name: it\nskills:\n{lines}")
    (tmp_path / "log.yaml").write_text(LOG)
    told: list[str] = []

    outcomes = await run_people(
        PeopleTest(people=30, seed=7, logs=[tmp_path / "log.yaml"]), file, told.append
    )

    broken = [outcome.name.partition(":")[0] for outcome in outcomes if outcome.status == "failed"]
    assert (law in broken) if law else broken == []
    if law is not None:
        found = next(one for one in told if one.startswith(law))
        said = [line for line in found.splitlines() if "- say:" in line]
        assert len(said) <= (6 if law == "endless ask" else 1)
        assert word in said[0]


async def test_the_same_seed_says_the_same() -> None:
    def talk(seed: int) -> list[str]:
        person, said = RulePerson("ann", Templates(["hello", "7 cats in Paris"]), seed), []
        while (turn := person.next(said)) is not None:
            asks = "date" if len(said) % 3 == 0 else None
            said.append(SaidTurn(says=turn.says, reply="yes", asks=asks))
        return [one.says for one in said]

    assert talk(7) == talk(7)
    assert talk(7) != talk(8)


@pytest.mark.parametrize(
    ("said", "laws"),
    [
        ([("a", "one"), ("b", "one"), ("c", "one")], ["same words"]),
        ([("a", "one"), ("a", "one"), ("c", "one")], []),
        ([("hello there", "Hello, there!")], ["echo"]),
        ([("hello there", "You said: hello there")], []),
        ([("hi", "")], ["no reply"]),
        ([("hi", "My name is Qabcdefx")], ["wrong person"]),
        ([("hi", "My name is Qzzzzzzx")], []),
    ],
)
def test_laws(said: list[tuple[str, str]], laws: list[str]) -> None:
    turns = [SaidTurn(says=words, reply=reply, silent=not reply) for words, reply in said]

    found = broken_laws(turns, "Qzzzzzzx", frozenset({"Qabcdefx", "Qzzzzzzx"}), 5.0)

    assert [one.law for one in found] == laws


async def test_an_assistant_replies_whatever_goes_wrong_with_its_agents(tmp_path: Path) -> None:
    file = write_assistant(tmp_path, ASSISTANT)
    faults = FaultyAgents(["dead"], share=0.7, seed=3)

    outcomes = await run_people(PeopleTest(people=20, seed=3, faults=faults), file, lambda _: None)

    assert sum(faults.told.values()) > 20
    assert {
        outcome.name.partition(":")[0] for outcome in outcomes if outcome.status == "failed"
    } <= {"same words"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("latte", "did you mean 'late'|there are"),
        ("late:7", "at most 1"),
        ("late:x", "is not a share"),
    ],
)
def test_faults_that_there_are_not_are_refused(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        FaultyAgents.read(text, 1)
