"""A second data set for pairing: thirty synthetic agents, their cards, questions, answers, votes.

Twenty know one or two subjects, six know many but less well, four talk without knowing anything.
What they know, how well, how they refuse and how they word answers is drawn at random from a seed.
Run: python bench/synthetic_agents.py FOLDER [--seed N], then
prolocutor evaluate pairing --data jsonl:FOLDER --cards FOLDER/cards.json
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

SUBJECTS: Final[dict[str, Any]] = json.loads(
    Path(__file__).with_name("synthetic_subjects.json").read_text("utf-8")
)
REFUSALS = [
    "Sorry, I cannot help with that.", "I did not get that.", "Could you rephrase?",
    "That is beyond me, I am afraid.", "No results.", "",
]  # fmt: skip
CHATTER = ["Great question!", "Let us talk about you.", "I love this weather.", "Tell me more."]
OPENERS = ["", "please ", "hey, ", "could you tell me ", "I wonder, ", "quick one: "]
TRAIN, TEST = 1500, 700
WORKERS = 5


class SyntheticAgent:
    """A synthetic agent: how well it knows each subject, and how it speaks when it does not."""

    def __init__(
        self, name: str, skill: dict[str, float], card: str, chance: random.Random
    ) -> None:
        self.name, self.skill, self.card = name, skill, card
        self._refusals = chance.sample(REFUSALS, 2)
        self._bluffs = chance.random() * 0.5

    def answer(self, subject: str, thing: str, chance: random.Random) -> tuple[str, float]:
        """Return an answer and how right it is."""
        if chance.random() < self.skill.get(subject, 0.0):
            return filled(SUBJECTS[subject]["answer"], thing, chance), 0.9
        if not self.skill:
            return chance.choice(CHATTER), 0.08
        if chance.random() < self._bluffs:
            other = chance.choice(sorted(self.skill))
            return filled(
                SUBJECTS[other]["answer"], chance.choice(SUBJECTS[other]["things"]), chance
            ), 0.1
        return chance.choice(self._refusals), 0.02


def agents_of(chance: random.Random) -> list[SyntheticAgent]:
    subjects = sorted(SUBJECTS)
    found = []
    for number in range(20):
        known = [subjects[number % len(subjects)], *chance.sample(subjects, chance.random() < 0.3)]
        found.append(agent(f"agent_{number}", known, (0.6, 0.95), chance))
    for number in range(6):
        known = chance.sample(subjects, chance.randint(7, 12))
        found.append(agent(f"helper_{number}", known, (0.25, 0.7), chance))
    return found + [
        SyntheticAgent(f"buddy_{number}", {}, "A friend to talk to about anything.", chance)
        for number in range(4)
    ]


def agent(
    name: str, known: list[str], between: tuple[float, float], chance: random.Random
) -> SyntheticAgent:
    skill = {subject: chance.uniform(*between) for subject in known}
    card = " ".join(SUBJECTS[subject]["card"] for subject in skill)
    return SyntheticAgent(name, skill, card, chance)


def filled(text: str, thing: str, chance: random.Random) -> str:
    return text.format(x=thing, n=chance.randint(2, 12), m=chance.randint(1, 9))


def questions(
    agents: list[SyntheticAgent], number: int, chance: random.Random
) -> Iterator[dict[str, Any]]:
    for _ in range(number):
        subject = chance.choice(sorted(SUBJECTS))
        about = SUBJECTS[subject]
        thing = chance.choice(about["things"])
        text = chance.choice(OPENERS) + chance.choice(about["asks"]).format(x=thing)
        if chance.random() < 0.2:
            text += f", {chance.choice(about['others'])}"
        answers, votes = {}, {}
        for one in agents:
            answers[one.name], right = one.answer(subject, thing, chance)
            votes[one.name] = sum(chance.random() < right for _ in range(WORKERS))
        gold = [name for name, count in votes.items() if count > WORKERS / 2]
        yield {"text": text, "gold": gold, "votes": votes, "answers": answers, "domain": subject}


def write(folder: Path, seed: int) -> None:
    """Write `train.jsonl` (without answers), `test.jsonl` and `cards.json`."""
    chance = random.Random(seed)
    agents = agents_of(chance)
    folder.mkdir(parents=True, exist_ok=True)
    cards = [{"name": one.name, "description": one.card} for one in agents]
    (folder / "cards.json").write_text(json.dumps(cards, indent=1))
    for name, number in (("train", TRAIN), ("test", TEST)):
        with (folder / f"{name}.jsonl").open("w") as file:
            for question in questions(agents, number, chance):
                if name == "train":
                    question = {
                        "text": question["text"],
                        "gold": question["gold"],
                        "domain": question["domain"],
                    }
                file.write(f"{json.dumps(question)}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    write(given.folder, given.seed)
    print(given.folder)
