"""A small world of three agents, each right in a subject of its own, made for tests."""

import random

from prolocutor.contracts.pairing import Card, LabelledQuestion, UserQuestion
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData

SUBJECTS = {
    "weather": ["rain in {}", "is it sunny in {}", "temperature of {}"],
    "music": ["play {}", "a song by {}", "who sings {}"],
    "bank": ["balance of {}", "transfer money to {}", "pay {}"],
}
THINGS = ["oslo", "lima", "cairo", "delhi", "kyoto", "quito", "turin", "perth", "sofia", "minsk"]
REFUSAL = "sorry, I cannot do that"
CARDS = [
    Card(name="weather", description="Tells of rain, sun and temperature.", price=0.01),
    Card(name="music", description="Plays songs. Knows who sings.", price=0.02),
    Card(name="bank", description="Shows balances, transfers money, pays bills."),
]


def labelled(number: int, seed: int, *, answers: bool) -> list[LabelledQuestion]:
    chance = random.Random(seed)
    found = []
    for place in range(number):
        agent = chance.choice(list(SUBJECTS))
        thing = chance.choice(THINGS)
        text = f"{chance.choice(SUBJECTS[agent]).format(thing)} {place}"
        gold = frozenset({agent}) if place % 10 else frozenset()
        given = {name: f"{thing} {name}" if name == agent else REFUSAL for name in SUBJECTS}
        found.append(
            LabelledQuestion(
                question=UserQuestion(text=text),
                agents=dict.fromkeys(gold, 1.0),
                gold=gold,
                answers=given if answers else {},
                domain=agent,
            )
        )
    return found


def data(learn: int = 120, test: int = 80, *, answers: bool = True) -> PairingData:
    return PairingData(
        name="made",
        cards=CARDS,
        learn=[one for one in labelled(learn, 1, answers=False) if one.gold],
        test=labelled(test, 2, answers=answers),
    )
